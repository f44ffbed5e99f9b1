import type { Home } from '../../shared/store/home.ts';
import type { Call } from '../verb.ts';
import type { Plan } from './plan.ts';
import type { RunCommand } from './run-command.ts';

export type Control = 'start' | 'stop' | 'restart';

/** What the service does now. */
export interface ServiceState {
  /** The manager's own word for it, as `active`; `not installed` where it knows of none. */
  readonly state: string;
  readonly pid: number | null;
  /** Whether the user's services go on without a session; null: not a question here. */
  readonly linger: boolean | null;
}

export interface InstallOptions {
  readonly linger: boolean;
}

/** systemd or launchd: each looks at what is, and plans what is to be done; it does nothing itself. */
export interface Manager {
  readonly name: 'systemd' | 'launchd';
  /** The definition that `install` writes. */
  readonly file: string;
  /** For its commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  planInstall(options: InstallOptions): Promise<Plan>;
  planUninstall(): Promise<Plan>;
  planControl(control: Control): Promise<Plan>;
  state(): Promise<ServiceState>;
}

/** What both of them need of the caller's place. */
export interface Place {
  readonly call: Call;
  readonly home: Home;
  readonly user: { readonly name: string; readonly uid: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunCommand;
  hasProgram(name: string): boolean;
}
