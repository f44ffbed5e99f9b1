/**
 * `EnvironmentVariables` of a launchd agent's property list: a dictionary of strings. Null for anything that
 * is not the XML form or holds something else there.
 */
export function environmentOfPlist(text: string): Record<string, string> | null {
  const plain = text.replace(/<!--[\s\S]*?-->/g, '');
  if (!/<plist[\s>]/.test(plain)) return null;
  const start = /<key>EnvironmentVariables<\/key>\s*/.exec(plain);
  if (start === null) return {};
  const rest = plain.slice(start.index + start[0].length);
  if (/^<dict\s*\/>/.test(rest)) return {};
  const members = /^<dict>([\s\S]*?)<\/dict>/.exec(rest)?.[1];
  return members === undefined ? null : stringsOf(members);
}

const MEMBER = /\s*<key>([^<]*)<\/key>\s*<string(?:\s*\/>|>([^<]*)<\/string>)\s*/y;

function stringsOf(members: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  let at = 0;
  while (members.slice(at).trim() !== '') {
    MEMBER.lastIndex = at;
    const member = MEMBER.exec(members);
    if (member === null) return null;
    found[decode(member[1] ?? '')] = decode(member[2] ?? '');
    at = MEMBER.lastIndex;
  }
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]{1,5})|#([0-9]{1,6})|(\w+));/g, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}
