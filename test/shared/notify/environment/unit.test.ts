import { describe, expect, it } from 'vitest';
import { environmentOfUnit } from '../../../../shared/notify/environment/unit.ts';

const SPECIFIERS = { h: '/home/ada', u: 'ada', U: '1000', t: '/run/user/1000' };

function read(...lines: string[]): Record<string, string> {
  return environmentOfUnit([`[Service]\n${lines.join('\n')}\n`], SPECIFIERS);
}

/** What systemd 252 gave a service with these lines. */
const AS_SYSTEMD: readonly (readonly [string, string, Record<string, string>])[] = [
  [
    'words, quoted as a whole, with a dollar that means nothing',
    'Environment="VAR1=word1 word2" VAR2=word3 "VAR3=$word 5 6"',
    { VAR1: 'word1 word2', VAR2: 'word3', VAR3: '$word 5 6' },
  ],
  [
    'quotes within a word, of either kind',
    `Environment=A='single quoted' D=mid"dle q"uote`,
    { A: 'single quoted', D: 'middle quote' },
  ],
  [
    'escapes, quoted or not, bytes of UTF-8 among them',
    String.raw`Environment=B="a\"b" C=x\x20y N=a\\b O=caf\303\251 S=\u00e9`,
    { B: 'a"b', C: 'x y', N: 'a\\b', O: 'caf\u00e9', S: '\u00e9' },
  ],
  ['empty values', 'Environment=P="" Q=', { P: '', Q: '' }],
  [
    'specifiers',
    'Environment=E=100%% F=%h/bin M=%u:%U:%t',
    { E: '100%', F: '/home/ada/bin', M: 'ada:1000:/run/user/1000' },
  ],
  ['no assignment with an unknown specifier', 'Environment=M=%u:%Z F=%h', { F: '/home/ada' }],
  [
    'a line that goes on after a comment',
    'Environment=G=one \\\n# a comment\n   H=two',
    { G: 'one', H: 'two' },
  ],
  [
    'a line as far as it is well formed',
    'Environment=2BAD=x I=i "unterminated J=j\nEnvironment=K=k \\q=bad L=l',
    { I: 'i', K: 'k' },
  ],
];

describe('the environment a unit of systemd sets', () => {
  it.each(AS_SYSTEMD)('has %s', (_what, lines, expected) => {
    expect(read(lines)).toEqual(expected);
  });

  it('is of [Service] alone', () => {
    const text =
      '[Unit]\nEnvironment=NOT=this\n[Service]\nEnvironment=A=1\n[Install]\nEnvironment=NOR=that\n';
    expect(environmentOfUnit([text], {})).toEqual({ A: '1' });
  });

  it('is what later lines and drop-ins make of it; an empty one forgets what stood before', () => {
    expect(read('Environment=A=1 B=2', 'Environment=A=3')).toEqual({ A: '3', B: '2' });
    const dropIn = '[Service]\nEnvironment=\nEnvironment=C=4';
    expect(environmentOfUnit(['[Service]\nEnvironment=A=1', dropIn], {})).toEqual({ C: '4' });
  });

  it('knows no other setting, however alike', () => {
    expect(
      read('EnvironmentFile=/etc/a', 'PassEnvironment=B', '#Environment=C=1', ';Environment=D=1'),
    ).toEqual({});
  });
});
