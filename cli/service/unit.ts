import { isOurs } from './mark.ts';

/** What is filled into a template: absolute paths, and the variables the service gets. */
export interface ServiceValues {
  readonly node: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The version of systemd that first knows RestartSteps and RestartMaxDelaySec; older ones complain of them. */
const KNOWS_STEPS = 254;
const LINGER_MARK = '# Lingering was enabled by this installation, and uninstall disables it.';

/**
 * The text of the unit. `lingerIsOurs` is remembered in it, for `uninstall`.
 * @param systemd its major version
 */
export function renderUnit(
  template: string,
  values: ServiceValues,
  { systemd, lingerIsOurs }: { readonly systemd: number; readonly lingerIsOurs: boolean },
): string {
  const variables = Object.entries(values.env).map(
    ([name, value]) => `Environment=${quoted(escapeSpecifiers(`${name}=${value}`))}`,
  );
  const filled: Readonly<Record<string, string>> = {
    '@NODE@': quoted(escapeSpecifiers(values.node)),
    '@SCRIPT@': quoted(escapeSpecifiers(values.script).replaceAll('$', '$$$$')),
    '@ENVIRONMENT@': variables.join('\n'),
  };
  const lines = template.split('\n').filter((line) => !line.startsWith(TEMPLATE_REMARK));
  const known = systemd < KNOWS_STEPS ? lines.filter((line) => !STEPS.test(line)) : lines;
  if (lingerIsOurs) known.splice(1, 0, LINGER_MARK);
  return known.join('\n').replace(/@[A-Z]+@/g, (name) => filled[name] ?? name);
}

const TEMPLATE_REMARK = '# (In the package';
/** The two settings, and the comment that is about them alone. */
const STEPS = /^(RestartSteps|RestartMaxDelaySec)=|^# It grows in eight steps/;

/** Was lingering enabled by the installation that wrote this unit? */
export function lingerIsOursIn(unit: string | null): boolean {
  return unit !== null && isOurs(unit) && unit.split('\n').includes(LINGER_MARK);
}

/** systemd.unit(5): a specifier begins with a per cent sign, everywhere. */
function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%');
}

/**
 * systemd.syntax(7). A word of plain characters stands as it is. A dollar sign is only special in the arguments
 * of ExecStart, not in its program and not in Environment, so it is not escaped here.
 */
function quoted(word: string): string {
  return /^[\w/.:=,+@~%-]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}
