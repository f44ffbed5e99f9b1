import { describe, expect, it } from 'vitest';
import { parseSettingsYaml } from '../../../../shared/notify/settings/parse-yaml.ts';
import { resolveOnTerminal, type SettingsCommand } from '../../../../shared/notify/settings/resolve.ts';
import { isSettingMap } from '../../../../shared/notify/settings/value.ts';

function resolve(text: string) {
  const settings = parseSettingsYaml(text);
  if (!isSettingMap(settings)) throw new Error(`not a mapping: ${text}`);
  return resolveOnTerminal(settings, 'run-1', 'session');
}
const onTerminal = (text: string) => resolve(`notify: {on_terminal: ${text}}`);
const argv = (...words: string[]): SettingsCommand => ({ kind: 'argv', argv: words });
const unusable = (reason: string): SettingsCommand => ({ kind: 'unusable', reason });
const NONE: SettingsCommand = { kind: 'none' };
const EXEC = 'adapter: {kind: exec, argv: [x, y]}';

describe('nothing asked for is silence', () => {
  it.each([
    '{}',
    'notify:',
    'notify: yes please',
    'notify: [on_terminal]',
    'notify: {}',
    'notify: {on_terminal: }',
    'notify: {on_terminal: ~}',
    '{true: {on_terminal: x}}',
    'on_terminal: x',
  ])('%s', (text) => expect(resolve(text)).toEqual(NONE));
});

describe('a string is a command line', () => {
  it.each([
    ['x', argv('x')],
    ['"x  y"', argv('x', 'y')],
    [`"x 'a b' {run_id}"`, argv('x', 'a b', '{run_id}')],
    [`'""'`, argv('')],
    ['"\\uFEFF"', argv('\uFEFF')],
    ['""', unusable('on_terminal_command_is_empty')],
    ['" \\t\\n"', unusable('on_terminal_command_is_empty')],
    ['"\\x1c\\u3000"', unusable('on_terminal_command_is_empty')],
    ['"x | y"', unusable('on_terminal_command_requires_shell_features')],
    [`"x 'y"`, unusable('on_terminal_command_not_parseable')],
    [`'x y\\'`, unusable('on_terminal_command_not_parseable')],
    [`"x 'y | z"`, unusable('on_terminal_command_requires_shell_features')],
  ])('%s', (text, command) => expect(onTerminal(text)).toEqual(command));
});

describe('anything but a string or a mapping is refused', () => {
  it.each(['5', '0', '1.5', 'true', 'false', 'yes', '2026-08-01', '[x]', '[]', '!!binary aGk=', '!!set {x}'])(
    '%s',
    (text) => expect(onTerminal(text)).toEqual(unusable('on_terminal_not_string_or_mapping')),
  );
});

describe('a mapping', () => {
  it.each([
    ['{}', NONE],
    [`{${EXEC}}`, argv('x', 'y')],
    [`{enabled: true, ${EXEC}}`, argv('x', 'y')],
    [`{enabled: , ${EXEC}}`, argv('x', 'y')],
    [`{enabled: 0, ${EXEC}}`, argv('x', 'y')],
    [`{enabled: "no", ${EXEC}}`, argv('x', 'y')],
    [`{enabled: false, ${EXEC}}`, NONE],
    [`{enabled: no, ${EXEC}}`, NONE],
    [`{enabled: off, ${EXEC}}`, NONE],
    ['{enabled: false, adapter: 5, filter: 5}', NONE],
    ['{adapter: x}', NONE],
    ['{adapter: [x]}', NONE],
    ['{enabled: 0}', NONE],
    ['{enabled: ""}', NONE],
    ['{enabled: true}', unusable('enabled_without_adapter')],
    ['{enabled: "no"}', unusable('enabled_without_adapter')],
    ['{enabled: [x]}', unusable('enabled_without_adapter')],
    ['{enabled: 1, adapter: exec}', unusable('enabled_without_adapter')],
    ['{adapter: {}}', unusable('adapter_kind_unsupported')],
    ['{adapter: {argv: [x]}}', unusable('adapter_kind_unsupported')],
    ['{adapter: {kind: Exec, argv: [x]}}', unusable('adapter_kind_unsupported')],
    ['{adapter: {kind: [exec]}}', unusable('adapter_kind_unsupported')],
  ])('%s', (text, command) => expect(onTerminal(text)).toEqual(command));
});

type Case = readonly [text: string, command: SettingsCommand];

const NOT_WORDS = unusable('exec_adapter_argv_not_a_list_of_strings');
const ARGV: readonly Case[] = [
  ['[x, ""]', argv('x', '')],
  ['[x, ]', argv('x')],
  ['[x, 1e3, y, "5"]', argv('x', '1e3', 'y', '5')],
  ['["a | b", "$X"]', argv('a | b', '$X')],
  ['[]', unusable('on_terminal_command_is_empty')],
  ['!!omap []', unusable('on_terminal_command_is_empty')],
  ...['', 'x', '5', '{x: y}', '[x, 5]', '[x, yes]', '[x, 010]', '[x, 12:30:45]', '[x, 1_000]', '[x, ~]'].map(
    (text): Case => [text, NOT_WORDS],
  ),
  ...['[x, 2026-08-01]', '[x, [y]]', '[x, {y: z}]', '[x, {run_id}]', '!!omap [x: y]'].map(
    (text): Case => [text, NOT_WORDS],
  ),
];

describe('an exec adapter', () => {
  it.each(ARGV)('%s', (text, command) => {
    expect(onTerminal(`{adapter: {kind: exec, argv: ${text}}}`)).toEqual(command);
  });
});

describe('a python adapter cannot be run here and says so', () => {
  it.each([
    ['"json:dumps"', 'configured_notifier_has_no_delivery_command'],
    ['"no.such:thing"', 'configured_notifier_has_no_delivery_command'],
    ['":"', 'configured_notifier_has_no_delivery_command'],
    ['json.dumps', 'python_adapter_ref_invalid'],
    ['5', 'python_adapter_ref_invalid'],
    ['', 'python_adapter_ref_invalid'],
  ])('%s', (ref, reason) => {
    expect(onTerminal(`{adapter: {kind: python, ref: ${ref}}}`)).toEqual(unusable(reason));
  });
});

const FILTERS: readonly Case[] = [
  ['{kinds: [session]}', argv('x', 'y')],
  ['{kinds: [play, session]}', argv('x', 'y')],
  ['{ids: [run-1]}', argv('x', 'y')],
  ['{kinds: [session], ids: [run-2, run-1]}', argv('x', 'y')],
  ['{kinds: [play]}', NONE],
  ['{kinds: [invocation, schedule_run]}', NONE],
  ['{ids: [run-2]}', NONE],
  ['{kinds: [play], ids: [run-1]}', NONE],
  ['{kinds: [session], ids: [run-2]}', NONE],
  ...['', '{}', '[session]', 'session', '5'].map((text): Case => [text, unusable('filter_not_a_mapping')]),
  ...['{kind: session}', '{kinds: [session], x: y}', '{5: x}', '{true: x}'].map(
    (text): Case => [text, unusable('filter_has_unknown_keys')],
  ),
  ...['', 'session', '[]', '[5]', '[session, ~]', '{session: x}', '0'].map(
    (text): Case => [`{kinds: ${text}}`, unusable('filter_kinds_not_a_list_of_strings')],
  ),
  ...['[job]', '[session, job]', '[""]', '[Session]'].map(
    (text): Case => [`{kinds: ${text}}`, unusable('filter_kinds_unsupported')],
  ),
  ...['', 'run-1', '[]', '[5]', '[""]', '[run-1, ""]'].map(
    (text): Case => [`{ids: ${text}}`, unusable('filter_ids_not_a_list_of_strings')],
  ),
  ['{kinds: [job], ids: 5}', unusable('filter_kinds_unsupported')],
];

describe('a filter', () => {
  it.each(FILTERS)('%s', (filter, command) => {
    expect(onTerminal(`{${EXEC}, filter: ${filter}}`)).toEqual(command);
  });

  it('that is not understood is reported before the adapter is looked at', () => {
    expect(onTerminal('{filter: 5, adapter: {kind: x}}')).toEqual(unusable('filter_not_a_mapping'));
    expect(onTerminal('{filter: 5}')).toEqual(unusable('filter_not_a_mapping'));
  });

  it('hides no fault of the adapter', () => {
    const text = '{filter: {kinds: [play]}, adapter: {kind: exec, argv: []}}';
    expect(onTerminal(text)).toEqual(unusable('on_terminal_command_is_empty'));
  });

  it('that does not name the run silences a python adapter too', () => {
    const python = 'adapter: {kind: python, ref: "a:b"}';
    expect(onTerminal(`{filter: {kinds: [play]}, ${python}}`)).toEqual(NONE);
  });
});
