import type { ServiceValues } from './unit.ts';

/** The text of the agent's property list. */
export function renderPlist(template: string, values: ServiceValues): string {
  const variables = Object.entries(values.env).map(
    ([name, value]) => `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>`,
  );
  const filled: Readonly<Record<string, string>> = {
    '@NODE@': escapeXml(values.node),
    '@SCRIPT@': escapeXml(values.script),
    '@ENVIRONMENT@': variables.join('\n'),
  };
  return template.replace(TEMPLATE_REMARK, ' -->').replace(/@[A-Z]+@/g, (name) => filled[name] ?? name);
}

const TEMPLATE_REMARK = /\n *\(In the package[^)]*\) -->/;

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
