import { duration } from './age.ts';

/** One line that says what is being waited for, on a terminal, and leaves nothing behind. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

/** What is over within this long needs no words. */
const SILENT_MS = 1_000;
const REDRAW_MS = 500;
const ERASE = '\r\u001b[K';

export function progressLine(out: {
  readonly write: (text: string) => void;
  readonly columns: () => number;
}): Progress {
  let text = '';
  let beganMs = 0;
  let drawnMs: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  const draw = (): void => {
    const nowMs = performance.now();
    if (nowMs - beganMs < SILENT_MS || nowMs - (drawnMs ?? 0) < REDRAW_MS) return;
    drawnMs = nowMs;
    out.write(ERASE + progressText(text, nowMs - beganMs, out.columns()));
  };
  return {
    show: (wanted) => {
      text = wanted;
      if (timer === null) {
        beganMs = performance.now();
        // What is worked on keeps the process alive, never its progress.
        timer = setInterval(draw, REDRAW_MS).unref();
      }
      // Work that never pauses gives no timer its turn.
      draw();
    },
    clear: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      if (drawnMs !== null) out.write(ERASE);
      drawnMs = null;
    },
  };
}

/** Never as wide as the line: a terminal that wraps would not be erased. Texts are ours and plain. */
export function progressText(text: string, tookMs: number, columns: number): string {
  const took = ` (${duration(tookMs / 1000)})`;
  const room = Math.max(0, columns - 1 - took.length);
  const fitted = text.length > room ? `${text.slice(0, Math.max(0, room - 3))}...` : text;
  return `${fitted}${took}`.slice(0, Math.max(0, columns - 1));
}
