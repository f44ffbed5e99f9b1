import type { Condition } from '../../shared/daemon/condition.ts';
import type { Degradation, Health } from '../../shared/daemon/health.ts';
import { printable } from '../../shared/printable.ts';
import { age } from './age.ts';
import { paint, type Screen } from './screen.ts';
import { wrap } from './wrap.ts';

export interface DaemonView {
  readonly condition: Condition;
  readonly pid: number | null;
  readonly version: string | null;
  readonly started_at: string | null;
  readonly linger: boolean | null;
}

/** Where nothing tells how wide the reader's screen is. */
const DEFAULT_COLUMNS = 80;

/** The supervisor for a person: how it is in one line, then its figures, then what is amiss and its cure. */
export function renderDaemon(screen: Screen, view: DaemonView): string {
  const { health, degraded } = view.condition;
  const figures = figuresOf(screen, view, health);
  const width = Math.max(...figures.map(([name]) => name.length));
  return [
    `${headline(screen, view)}\n`,
    ...figures.map(([name, text]) => `${paint(screen, 'dim', name.padEnd(width))}  ${text}\n`),
    ...degraded.map((each) => amiss(screen, each)),
  ].join('');
}

function headline(screen: Screen, view: DaemonView): string {
  const { state, degraded } = view.condition;
  if (state === 'stopped') return paint(screen, 'yellow', 'liond is not running');
  const isWell = state === 'running' && degraded.length === 0;
  const words = `liond is ${state}${degraded.length > 0 && state !== 'stalled' ? ', degraded' : ''}`;
  return `${paint(screen, isWell ? 'green' : 'yellow', words)} (pid ${view.pid ?? 'unknown'})`;
}

function figuresOf(screen: Screen, view: DaemonView, health: Health | null): [string, string][] {
  const ago = (time: string | null): string => {
    const length = age(time, screen.nowMs);
    return length === '' ? 'not yet' : `${length} ago`;
  };
  const lines: [string, string][] = [];
  if (view.version !== null) lines.push(['version', printable(view.version)]);
  if (view.started_at !== null)
    lines.push(['since', `${printable(view.started_at)} (${ago(view.started_at)})`]);
  if (view.linger === false) lines.push(['lingering', 'off: a service stops with the last session']);
  if (health === null) return lines;
  const { sweeps, notices } = health;
  return [
    ...lines,
    ['store', printable(health.jobs_dir)],
    ['runs', `${health.runs}, ${health.open} not ended, ${health.queue} waiting to be looked at`],
    ['looked', `names ${ago(sweeps.names_at)}, all records ${ago(sweeps.stats_at)}`],
    ['', `processes ${ago(sweeps.probed_at)}; said so ${ago(health.updated_at)}`],
    ['watches', String(health.watches)],
    [
      'notices',
      `${notices.under_way} under way, ${notices.owed} owed, ${notices.retrying} retrying, ${notices.parked} parked, ${notices.unknown} unknown`,
    ],
  ];
}

function amiss(screen: Screen, { code, cause, cure }: Degradation): string {
  const columns = (screen.columns ?? DEFAULT_COLUMNS) - 2;
  const lines = [...wrap(printable(cause), columns), ...wrap(`cure: ${printable(cure)}`, columns)];
  return `\n${paint(screen, 'yellow', printable(code))}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
