import { Argument, Command, CommanderError } from 'commander';
import { LionError } from '../shared/contract/errors.ts';
import type { LiKind } from '../shared/submit/li.ts';
import { IMPLEMENTATION_VERSION } from '../shared/version.ts';
import type { Answer, Call } from './verb.ts';

/** What a command line asks for: a verb's answer, or a text that commander has (help, version). */
export type Dispatch =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'text'; readonly text: string };

/**
 * Parses and runs one command line.
 * @throws LionError `invalid_input` for a command line that is none, else what the verb throws.
 */
export async function dispatch(args: readonly string[], call: Call): Promise<Dispatch> {
  const answers: Answer[] = [];
  const texts: string[] = [];
  const program = buildProgram(call, (answer) => {
    answers.push(answer);
  });
  let asked = program;
  everyCommand(program, (command) => {
    const keep = (text: string): void => {
      asked = command;
      texts.push(text);
    };
    command.exitOverride().configureOutput({ writeOut: keep, writeErr: keep });
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw await withNearRuns(call, error);
    if (error.exitCode === 0) return { kind: 'text', text: texts.join('') };
    // Who names no verb does not know them yet.
    const help = error.code === 'commander.help' && !call.machine ? { help: texts.join('').trimEnd() } : null;
    throw new LionError('invalid_input', usageMessage(error, texts.join(''), asked), help);
  }
  const [answer] = answers;
  return answer === undefined ? { kind: 'text', text: texts.join('') } : { kind: 'answer', answer };
}

/** The fault, and where the cure is; one line. */
function usageMessage(error: CommanderError, text: string, command: Command): string {
  const verbs = command.createHelp().visibleCommands(command);
  const fault =
    error.code === 'commander.help'
      ? `a command is missing, one of: ${verbs.map((verb) => verb.name()).join(', ')}`
      : text.replace(/^error: /, '').replace(/[.\s]+$/, '') || error.message;
  const words = fault.replace(/\n\(Did you mean (.+)\?\)$/s, '; did you mean $1?').replaceAll('\n', ' ');
  return `${words}${words.endsWith('?') ? '' : ';'} see: ${pathOf(command)} --help`;
}

/** An id that nobody has, with those that somebody may have meant. */
async function withNearRuns(call: Call, error: unknown): Promise<unknown> {
  const typed = error instanceof LionError && error.kind === 'not_found' ? error.detail?.run_id : null;
  if (!(error instanceof LionError) || typeof typed !== 'string') return error;
  const candidates = (await import('./near.ts')).nearRuns(call, typed);
  return new LionError(error.kind, error.message, { ...error.detail, candidates });
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}

export function buildProgram(call: Call, done: (answer: Answer) => void): Command {
  const program = new Command('lion')
    .description('Background agent runs, answered from their files alone.')
    .version(IMPLEMENTATION_VERSION)
    .addHelpText('after', '\nAdd --machine to any command for one JSON envelope on stdout.');
  program
    .command('handshake')
    .description('which machine contract this build speaks')
    .addHelpText('after', '\nExample:\n  lion handshake --machine')
    .action(async () => done((await import('./handshake.ts')).handshake(call)));
  addJobVerbs(program.command('job').description('start, look at and end runs'), call, done);
  addNotifyVerbs(program.command('notify').description('notices of ends: look at, send, try'), call, done);
  addLiVerbs(program, call, done);
  addDaemonVerbs(program.command('daemon').description('the supervisor of this store'), call, done);
  program
    .command('doctor')
    .description('is this a good place for runs? what is amiss, and its cure')
    .addHelpText('after', '\nExample:\n  lion doctor')
    .action(async () => done(await (await import('./doctor.ts')).doctor(call)));
  addHookVerbs(program.command('hook').description('what a run calls about itself'), call, done);
  addCompletionVerbs(program, call, done);
  return program;
}

function addCompletionVerbs(program: Command, call: Call, done: (answer: Answer) => void): void {
  program
    .command('completion')
    .description('a script that lets a shell complete verbs, options and run ids')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', '\nExample:\n  eval "$(lion completion bash)"')
    .action(async (shell) => done((await import('./completion.ts')).completion(shell)));
  program
    .command('complete', { hidden: true })
    .description('what may stand in the place of the last word')
    .argument('[word...]', 'of a command line, after a --')
    .addHelpText('after', '\nExample:\n  lion complete -- job st')
    .action(async (words) => done((await import('./completion.ts')).complete(call, program, words)));
}

function addJobVerbs(job: Command, call: Call, done: (answer: Answer) => void): void {
  job
    .command('list')
    .description('runs, newest first')
    .option('--limit <n>', 'at most this many (50)')
    .option('--cursor <cursor>', 'the page after the one that gave it as next_cursor')
    .option('--status <word>', 'only runs shown with this status')
    .option('--outcome <outcome>', 'only these: succeeded, failed, cancelled, indeterminate')
    .option('--open', 'only runs without an end')
    .option('--terminal', 'only runs with one')
    .option('--kind <word>', 'only runs of this kind')
    .option('--label <glob>', 'only runs whose label matches; * is any text, ? one character')
    .option('--tag <text>', 'only runs with this tag')
    .option('--notify-state <state>', 'only runs whose notice is in this state, as in lion notify list')
    .option('--since <time>', 'only runs submitted since: an ISO time, or 90s, 15m, 2h, 7d ago')
    .option('--until <time>', 'only runs submitted before')
    .option('--reason <code>', 'only runs with this reason_code')
    .option('--degraded', 'only runs whose record or engine could not keep up')
    .option('--count', 'how many there are, by outcome')
    .option('--no-index', 'from the records alone')
    .option('--usage', 'with the CPU and memory they use')
    .addHelpText(
      'after',
      '\nExamples:\n  lion job list --limit 20\n  lion job list --outcome failed --since 7d',
    )
    .action(async (options) => done(await (await import('./job/list.ts')).list(call, options)));
  job
    .command('status')
    .description('what became of one run, and how that is known')
    .argument('<run>', 'its id, or a prefix or suffix only it has')
    .option('--usage', 'with the CPU and memory it uses')
    .addHelpText('after', '\nExample:\n  lion job status 20260725T175010-97f334')
    .action(async (run, options) => done(await (await import('./job/status.ts')).status(call, run, options)));
  job
    .command('wait')
    .description('wait for runs to end')
    .argument('<run...>', 'ids')
    .option(
      '--max-wait <seconds>',
      'close the window after this long, 0 to 600 (a program: 60, a person: no window)',
    )
    .option('--poll-interval <seconds>', 'look at least this often, 0.05 to 60 (1)')
    .option('--any', 'return at the first end')
    .addHelpText(
      'after',
      `
Exit status (without --machine):
  0  all succeeded              1  all ended, not all succeeded
  2  bad usage or unknown id    3  the window closed while some were running
  4  nothing runs any more, and some stopped without a recorded end or never started

Example:
  lion job wait 97f334 && deploy`,
    )
    .action(async (runs, options) => done(await (await import('./job/wait.ts')).wait(call, runs, options)));
  job
    .command('output')
    .description("the end of a run's log, and its artifacts")
    .argument('<run>', 'its id')
    .option('--tail-chars <n>', 'characters from the end (20000)')
    .option('--follow', 'stay, show it as it grows, and exit by the outcome')
    .addHelpText(
      'after',
      '\nExamples:\n  lion job output 97f334 --tail-chars 2000\n  lion job output 97f334 --follow',
    )
    .action(async (run, options) => done(await (await import('./job/output.ts')).output(call, run, options)));
  job
    .command('watch')
    .description('runs as they are now, again and again; into a pipe a line for each change')
    .argument('[run...]', 'ids (all open runs)')
    .addHelpText(
      'after',
      '\nWith ids it ends with them, exit status as lion job wait.\n\nExample:\n  lion job watch',
    )
    .action(async (runs) => done(await (await import('./job/watch.ts')).watch(call, runs)));
  withSubmitOptions(job.command('submit'))
    .description('start a command as a run')
    .argument('[command...]', 'after a --')
    .option('--wait', 'stay, show its log, and exit by its outcome')
    .option('--max-wait <seconds>', 'with --wait under --machine: answer after this long, ended or not (100)')
    .addHelpText(
      'after',
      '\nA signal that ended the command is reported as exit code 128 + its number.\n\nExample:\n  lion job submit --label nightly -- make index',
    )
    .action(async (argv, options) =>
      done(await (await import('./job/submit.ts')).submit(call, argv, options)),
    );
  job
    .command('kill')
    .description('signal a run, all of it and nothing else')
    .argument('<run>', 'its id')
    .option('--signal <name>', 'the signal (TERM)')
    .option('--grace <seconds>', 'wait this long for it to be gone (10)')
    .option('--force', 'after the grace, KILL what is left')
    .addHelpText('after', '\nExample:\n  lion job kill 97f334 --force')
    .action(async (run, options) => done(await (await import('./job/kill.ts')).kill(call, run, options)));
  job
    .command('prune')
    .description('remove ended runs, oldest first; all rules given must hold')
    .option('--older-than <time>', 'ended longer ago than this: 12h, 30d, 4w')
    .option('--keep <n>', 'so many of the newest runs of the store stay')
    .option('--max-size <size>', 'only until the store takes no more than this: 500M, 5G')
    .option('--outcome <word>', 'only runs with this outcome; may be given again', gather)
    .option('--force', 'damaged, undelivered and long reserved ones too; never one that may live')
    .option('--yes', 'do it; without this it only says what it would do')
    .addHelpText('after', '\nExample:\n  lion job prune --older-than 30d --yes')
    .action(async (options) => done(await (await import('./job/prune.ts')).prune(call, options)));
}

function addNotifyVerbs(notify: Command, call: Call, done: (answer: Answer) => void): void {
  const states = 'owed, retrying, parked, skipped, failed, unknown';
  notify
    .command('list')
    .description('notices that are not settled, newest first')
    .option('--state <state>', `only these: ${states}, delivered`)
    .option('--limit <n>', 'at most this many (50)')
    .addHelpText('after', '\nExample:\n  lion notify list --state parked')
    .action(async (options) => done(await (await import('./notify/list.ts')).notifyList(call, options)));
  notify
    .command('show')
    .description("where one run's notice stands, and what happens next")
    .argument('<run>', 'its id')
    .addHelpText('after', '\nExample:\n  lion notify show 97f334')
    .action(async (run) => done(await (await import('./notify/show.ts')).notifyShow(call, run)));
  notify
    .command('retry')
    .description('send notices now')
    .argument('[run...]', 'ids')
    .option('--all', 'all that are owed, retrying, parked or failed, and cannot have arrived')
    .option('--state <state>', `with --all, only these: ${states}`)
    .addHelpText(
      'after',
      '\nExit status (without --machine): 0 if all were delivered, else 1.\n\nExample:\n  lion notify retry --all --state parked',
    )
    .action(async (runs, options) =>
      done(await (await import('./notify/retry.ts')).notifyRetry(call, runs, options)),
    );
  notify
    .command('test')
    .description("run the notifier once in the service's environment, recording nothing")
    .argument('[run]', "with this run's fields")
    .addHelpText('after', '\nExample:\n  lion notify test')
    .action(async (run) => done(await (await import('./notify/test.ts')).notifyTest(call, run)));
}

function addDaemonVerbs(daemon: Command, call: Call, done: (answer: Answer) => void): void {
  daemon
    .command('status')
    .description('whether a supervisor runs, and whether it is well')
    .addHelpText(
      'after',
      `
Exit status (without --machine):
  0  it runs and does without nothing      1  it does not run, or is degraded

Example:
  lion daemon status || lion daemon logs`,
    )
    .action(async () => done(await (await import('./daemon/status.ts')).daemonStatus(call)));
  daemon
    .command('run')
    .description('the supervisor itself, in the foreground until it is stopped')
    .addHelpText(
      'after',
      `
Exit status:
  0   stopped by a signal                  1   a second signal, or a stop that took too long
  70  a fault of the supervisor            75  another one looks after this store
  78  this installation, its configuration or the place of the store cannot work

Example:
  lion daemon run`,
    )
    .action(async () => done((await import('./daemon/run.ts')).daemonRun(call)));
  daemon
    .command('install')
    .description(
      'the supervisor as a service of this user (systemd or launchd), or what is stale of it set right',
    )
    .option('--linger', 'let it run from boot on and after log-out (systemd: loginctl enable-linger)')
    .option('--dry-run', 'only say what would be done: every file and command')
    .addHelpText('after', '\nExample:\n  lion daemon install --dry-run')
    .action(async (options) =>
      done(await (await import('./daemon/service.ts')).daemonInstall(call, options)),
    );
  daemon
    .command('uninstall')
    .description('take back what install did; the store and all runs stay')
    .option('--dry-run', 'only say what would be done')
    .addHelpText('after', '\nExample:\n  lion daemon uninstall')
    .action(async (options) =>
      done(await (await import('./daemon/service.ts')).daemonUninstall(call, options)),
    );
  for (const control of ['start', 'stop', 'restart'] as const)
    daemon
      .command(control)
      .description(`${control} the installed service; runs go on`)
      .addHelpText('after', `\nExample:\n  lion daemon ${control}`)
      .action(async () => done(await (await import('./daemon/service.ts')).daemonControl(call, control)));
  daemon
    .command('logs')
    .description("the end of the supervisor's own log")
    .option('--lines <n>', 'so many lines (50)')
    .option('--follow', 'stay, and show what is added')
    .addHelpText('after', '\nExample:\n  lion daemon logs --lines 100 --follow')
    .action(async (options) => done((await import('./daemon/logs.ts')).daemonLogs(call, options)));
}

function addLiVerbs(program: Command, call: Call, done: (answer: Answer) => void): void {
  const orchestrate = program
    .command('orchestrate')
    .description('start an orchestration of li in the background');
  const verbs: readonly (readonly [Command, LiKind])[] = [
    [program.command('agent').description('start an agent of li in the background'), 'agent'],
    [orchestrate.command('flow').description('start a flow'), 'flow'],
    [orchestrate.command('fanout').description('start a fan-out'), 'fanout'],
    [program.command('play').description('start a playbook of li in the background'), 'play'],
  ];
  for (const [command, kind] of verbs) {
    withSubmitOptions(command)
      .argument('[args...]', "li's own, after a -- where they begin with a dash")
      .option('--detach', 'required: lion starts runs in the background only')
      .option('--prompt <text>', 'what it is to do')
      .option('--no-mcp', 'without the servers of .mcp.json')
      .option('--wait', 'stay, show its log, and exit by its outcome')
      .option(
        '--max-wait <seconds>',
        'with --wait under --machine: answer after this long, ended or not (100)',
      )
      .addHelpText(
        'after',
        `\nExample:\n  ${pathOf(command)} --detach --prompt "tidy the inbox" -- -a reviewer`,
      )
      .action(async (args, options) =>
        done(await (await import('./li/detach.ts')).detach(call, kind, args, options)),
      );
  }
}

function withSubmitOptions(command: Command): Command {
  return command
    .option('--label <text>', 'a name for people')
    .option('--cwd <dir>', 'where it runs')
    .option('--notify-command <json>', 'the notifier, as a JSON list of strings')
    .option('--notify-target <text>', 'the value of {target}')
    .option('--notify-sender <text>', 'the value of {sender}')
    .option('--tag <text>', 'for grouping; may be given again', gather)
    .option('--prompt-file <file>', 'a long text, copied into the run; {prompt_file} names the copy');
}

/** The values of an option that may be given again. */
function gather(value: string, values: readonly string[] = []): string[] {
  return [...values, value];
}

function addHookVerbs(hook: Command, call: Call, done: (answer: Answer) => void): void {
  hook
    .command('terminal')
    .description("record this run's end and send its notice")
    .requiredOption('--run-id <run>', 'the run')
    .option('--status <word>', 'how it ended', 'completed')
    .option('--exit-code <n>', 'its exit status')
    .option('--exit-signal <name>', 'the signal that ended it')
    .option('--command <json>', 'the notifier, as a JSON list of strings')
    .option('--target <text>', 'the value of {target}')
    .option('--sender <text>', 'the value of {sender}')
    .addHelpText(
      'after',
      '\nExample:\n  lion hook terminal --run-id "$LIONAGI_RUN_ID" --status completed --exit-code 0',
    )
    .action(async (options) => done(await (await import('./hook/terminal.ts')).hookTerminal(call, options)));
}
