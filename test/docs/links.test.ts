import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { documents } from '../support/documents.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the documents', () => {
  it('link to files and headings that are there', () => {
    const links = [...documents()].flatMap(([path, text]) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ path, target })),
    );
    const dead = links.filter(({ path, target }) => !/^https:/.test(target) && !leadsSomewhere(path, target));
    expect(links.length).toBeGreaterThan(20);
    expect(dead).toEqual([]);
  });

  it('are each named by another, so that a reader comes to all of them', () => {
    const named = new Set(
      [...documents()].flatMap(([path, text]) =>
        [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => join(dirname(path), target)),
      ),
    );
    expect([...documents().keys()].filter((path) => path !== 'README.md' && !named.has(path))).toEqual([]);
  });
});

function leadsSomewhere(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = join(ROOT, file === '' ? from : join(dirname(from), file));
  if (!existsSync(path)) return false;
  return anchor === undefined || anchorsIn(readFileSync(path, 'utf8')).includes(anchor);
}

/** As a reader of Markdown makes them of headings. */
function anchorsIn(text: string): string[] {
  return [...text.matchAll(/^#{1,4} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}
