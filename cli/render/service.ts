import { printable, printableBlock } from '../../shared/printable.ts';
import { commandText, type Plan, type Step } from '../service/plan.ts';
import { facts } from './facts.ts';
import { paint, type Screen } from './screen.ts';
import { wrap } from './wrap.ts';

export interface ServiceView {
  readonly manager: string;
  readonly file: string;
  readonly state: string;
  readonly pid: number | null;
}

const HEADLINES: Readonly<Record<Plan['result'], string>> = {
  installed: 'liond is installed as a service and runs',
  healed: 'the service of liond is brought up to date and runs',
  unchanged: 'nothing changed',
  uninstalled: 'the service of liond is gone',
  started: 'liond is started',
  stopped: 'liond is stopped; runs go on',
  restarted: 'liond is restarted',
};
/** Where nothing tells how wide the reader's screen is. */
const DEFAULT_COLUMNS = 80;

/** What was done with the service, for a person: in one line, then where it is, then what to know. */
export function renderService(screen: Screen, plan: Plan, view: ServiceView): string {
  const { manager, file, state, pid } = view;
  const done =
    plan.result === 'unchanged' && pid !== null
      ? 'already installed, nothing changed'
      : HEADLINES[plan.result];
  const lines: [string, string][] = [
    ['state', pid === null ? printable(state) : `${printable(state)} (pid ${pid})`],
  ];
  if (plan.result !== 'uninstalled' && state !== 'not installed')
    lines.unshift(['manager', manager], ['file', printable(file)]);
  return `${paint(screen, 'green', done)}\n${facts(screen, lines)}${plan.notes.map((note) => noteText(screen, note)).join('')}`;
}

function noteText(screen: Screen, note: string): string {
  const [first = '', ...rest] = wrap(printable(note), (screen.columns ?? DEFAULT_COLUMNS) - 2);
  return [`- ${first}\n`, ...rest.map((line) => `  ${line}\n`)].join('');
}

/** All that would be done, files with what would stand in them. */
export function renderDryRun(plan: Plan): string {
  const steps = plan.steps.map((step) => `${printableBlock(stepText(step))}\n`);
  const notes = plan.notes.map((note) => `# ${printable(note)}\n`);
  return [...steps, ...notes, steps.length === 0 ? 'nothing would be done\n' : 'nothing was done\n'].join('');
}

function stepText(step: Step): string {
  switch (step.kind) {
    case 'write':
      return `write ${step.path}:\n${step.content.trimEnd().replace(/^/gm, '    ')}`;
    case 'remove':
      return `remove ${step.path}`;
    case 'run':
      return `run   ${commandText(step.command)}`;
    case 'check':
      return `check ${commandText(step.command)}: ${step.what}`;
  }
}
