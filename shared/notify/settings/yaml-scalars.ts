import { OpaqueSetting, type SettingKey } from './value.ts';
import { timestampExists } from './yaml-timestamps.ts';

/** A scalar that PyYAML would refuse: a date that is not in the calendar, `0x_`, a bare `=`. */
export class ScalarError extends Error {}

export const MERGE_KEY = '<<';

/**
 * What an unquoted scalar is by the YAML 1.1 rules PyYAML's `safe_load` applies (design 7: the other side
 * reads the same files). Not those of the yaml package's own 1.1 schema, where `y` is a boolean and `1e3` a
 * number. Throws {@link ScalarError}.
 */
export function resolvePlainScalar(text: string): SettingKey {
  if (NULL.test(text)) return null;
  if (BOOL.test(text)) return TRUE.test(text);
  if (FLOAT.test(text)) return floatOf(text);
  if (INT.test(text)) return intOf(text);
  if (TIMESTAMP.test(text)) return timestampOf(text);
  // Both are recognised and then have nobody to construct them, unless they stand as a key.
  if (text === MERGE_KEY || text === '=') throw new ScalarError(`${text} is not a value`);
  return text;
}

/** What a scalar with an explicit tag is; a tag `safe_load` does not know is a {@link ScalarError}. */
export function resolveTaggedScalar(tag: string, text: string): SettingKey {
  const construct = CONSTRUCTORS.get(tag);
  if (construct === undefined) throw new ScalarError(`no constructor for ${tag}`);
  return construct(text);
}

const NULL = /^(?:~|null|Null|NULL|)$/;
const TRUE = /^(?:yes|true|on)$/i;
const BOOL = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;
const FLOAT =
  /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const INT =
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][\d_]*)|[-+]?0x[\da-fA-F_]+|[-+]?[1-9][\d_]*(?::[0-5]?\d)+)$/;
const TIMESTAMP =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;

/** Python refuses to read a longer decimal number from text. */
const MAX_DECIMAL_DIGITS = 4300;

const YAML = 'tag:yaml.org,2002:';
const CONSTRUCTORS: ReadonlyMap<string, (text: string) => SettingKey> = new Map([
  [`${YAML}str`, (text: string): SettingKey => text],
  [`${YAML}null`, (): SettingKey => null],
  [`${YAML}bool`, taggedBool],
  [`${YAML}int`, taggedInt],
  [`${YAML}float`, taggedFloat],
  [`${YAML}timestamp`, taggedTimestamp],
  [`${YAML}binary`, taggedBinary],
]);

function intOf(text: string): OpaqueSetting {
  const digits = text
    .replaceAll('_', '')
    .replace(/^[-+]/, '')
    .replace(/^0[bx]/, '');
  const decimal = /^[1-9]/.test(text.replace(/^[-+]/, '')) && !digits.includes(':');
  if (digits === '') throw new ScalarError('a prefix without digits');
  if (decimal && digits.length > MAX_DECIMAL_DIGITS) throw new ScalarError('too many digits');
  return new OpaqueSetting(/[1-9a-fA-F]/.test(digits));
}

function floatOf(text: string): OpaqueSetting {
  const plain = text.replaceAll('_', '');
  if (/inf|nan/i.test(plain)) return new OpaqueSetting(true);
  return new OpaqueSetting(plain.includes(':') ? /[1-9]/.test(plain) : Number(plain) !== 0);
}

function timestampOf(text: string): OpaqueSetting {
  if (!timestampExists(text)) throw new ScalarError(`${text} is not in the calendar`);
  return new OpaqueSetting(true);
}

function taggedBool(text: string): boolean {
  if (!BOOL.test(text)) throw new ScalarError(`${text} is not a boolean`);
  return TRUE.test(text);
}

function taggedInt(text: string): OpaqueSetting {
  if (!INT.test(text)) throw new ScalarError(`${text} is not an integer`);
  return intOf(text);
}

function taggedFloat(text: string): OpaqueSetting {
  if (!FLOAT.test(text) && !/^[-+]?\d[\d_]*(?:[eE][-+]?\d+)?$/.test(text)) {
    throw new ScalarError(`${text} is not a number`);
  }
  return floatOf(text);
}

function taggedTimestamp(text: string): OpaqueSetting {
  if (!TIMESTAMP.test(text) && !/^\d{4}-\d\d?-\d\d?$/.test(text)) {
    throw new ScalarError(`${text} is not a date`);
  }
  return timestampOf(text);
}

function taggedBinary(text: string): OpaqueSetting {
  const base64 = text.replaceAll(/[^A-Za-z0-9+/=]/g, '');
  if (/[^\0-\x7f]/.test(text) || base64.length % 4 !== 0) throw new ScalarError('not base64');
  return new OpaqueSetting(base64 !== '');
}
