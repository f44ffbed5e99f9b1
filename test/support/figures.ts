/** Median, 95th of a hundred, and most of these milliseconds, for people. */
export function figuresOf(tookMs: readonly number[]): string {
  const at = (part: number): string => `${Math.round(quantile(tookMs, part))} ms`;
  return `median ${at(0.5)}, p95 ${at(0.95)}, most ${at(1)}`;
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

function quantile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
