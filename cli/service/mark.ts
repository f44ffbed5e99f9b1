/** In the first lines of every file that `lion daemon install` writes: what lacks it is not ours to change. */
const MARK = 'Made by lion daemon install';
const HEAD_LINES = 3;

export function isOurs(definition: string): boolean {
  return definition.split('\n', HEAD_LINES).some((line) => line.includes(MARK));
}
