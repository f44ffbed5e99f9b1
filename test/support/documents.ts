import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** README.md, ARCHITECTURE.md and what is in docs, by path. */
export function documents(): Map<string, string> {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  return new Map(['README.md', 'ARCHITECTURE.md', ...docs.sort()].map((path) => [path, documentAt(path)]));
}

export function documentAt(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export interface Section {
  readonly heading: string;
  readonly body: string;
}

/** What stands under each heading of this depth. */
export function sectionsOf(text: string, depth: number): Section[] {
  const mark = '#'.repeat(depth);
  return text
    .split(new RegExp(`^${mark} `, 'm'))
    .slice(1)
    .map((part) => {
      const [heading = '', ...rest] = part.split('\n');
      return { heading, body: rest.join('\n').split(/^#{1,3} /m)[0] ?? '' };
    });
}

/** What stands between backticks, fences left out. */
export function codeSpans(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
}

/** The words made of small letters and underscores in spans of code. */
export function codeWords(text: string): Set<string> {
  return new Set(codeSpans(text).flatMap((span) => span.match(/[a-z][a-z0-9_]*/g) ?? []));
}

export interface Fence {
  readonly path: string;
  readonly line: number;
  /** What stands after the backticks: a language, and what we say beside it, there or in a comment above. */
  readonly info: string;
  readonly text: string;
}

export function fencesOf(path: string, text: string): Fence[] {
  return [...text.matchAll(/^(?:<!-- (no-run: .+) -->\n)?```([^\n`]+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    path,
    line: text.slice(0, match.index).split('\n').length,
    info: [match[2], match[1]].filter(Boolean).join(' ').trim(),
    text: match[3] ?? '',
  }));
}
