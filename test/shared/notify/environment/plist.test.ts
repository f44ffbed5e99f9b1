import { describe, expect, it } from 'vitest';
import { environmentOfPlist } from '../../../../shared/notify/environment/plist.ts';

function plist(members: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>io.liond</string>
  ${members}
  <key>KeepAlive</key>
  <dict><key>SuccessfulExit</key><false/></dict>
</dict>
</plist>
`;
}

function withVariables(members: string): string {
  return plist(`<key>EnvironmentVariables</key>\n<dict>\n${members}\n</dict>`);
}

describe('the environment an agent of launchd sets', () => {
  it('is its dictionary of strings, entities read', () => {
    const members = `<key>PATH</key><string>/opt/bin:/usr/bin</string>
      <key>QUOTED</key>  <string>a &lt;b&gt; &amp;amp; &quot;c&quot; &#233;&#xe9;</string>
      <key>EMPTY</key><string></string> <key>NONE</key><string/>`;
    expect(environmentOfPlist(withVariables(members))).toEqual({
      PATH: '/opt/bin:/usr/bin',
      QUOTED: 'a <b> &amp; "c" \u00e9\u00e9',
      EMPTY: '',
      NONE: '',
    });
  });

  it('is empty where there is no such dictionary, or one with nothing in it', () => {
    const commented = '<!-- <key>EnvironmentVariables</key><dict><key>A</key><string>1</string></dict> -->';
    for (const text of [plist(''), plist(commented), withVariables('')]) {
      expect(environmentOfPlist(text)).toEqual({});
    }
    expect(environmentOfPlist(plist('<key>EnvironmentVariables</key><dict/>'))).toEqual({});
  });

  it('is not to be had from a binary list, from no list, or where something else than strings is there', () => {
    expect(environmentOfPlist('bplist00\u0001\u0002')).toBeNull();
    expect(environmentOfPlist('')).toBeNull();
    expect(environmentOfPlist(withVariables('<key>A</key><integer>1</integer>'))).toBeNull();
    expect(environmentOfPlist(plist('<key>EnvironmentVariables</key><string>A=1</string>'))).toBeNull();
  });
});
