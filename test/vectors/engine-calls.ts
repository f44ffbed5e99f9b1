/**
 * The engine's own functions that the recordings call and the CLI has no verb for. Answers are given in the
 * recorded shape, but a record as its JSON text: so its numbers, escapes and key order can be compared.
 */
export interface EngineCalls {
  markTerminal(world: EngineWorld, runId: string, status: string, reason?: string): Promise<WriterAnswer>;
  /** `deliveryText` is the JSON text of the object to record as `notify_delivery`. */
  recordNotify(world: EngineWorld, runId: string, deliveryText: string): Promise<WriterAnswer>;
  beginNotify(world: EngineWorld, runId: string): Promise<WriterAnswer>;
  /** `causeText` is the JSON text of the object to record as `failure_cause`. */
  recordCause(world: EngineWorld, runId: string, causeText: string): Promise<WriterAnswer>;
  reap(world: EngineWorld, runId: string, finding: string, observedAt: string): Promise<ReapAnswer>;
  classify(text: string): Promise<{ failure_class: string }>;
  /** `path` names a cause file. */
  cause(world: EngineWorld, path: string): Promise<{ cause: unknown }>;
  /** In the shape of the `data` of `lion job wait`; the ids may be anything JSON can say. */
  wait(world: EngineWorld, ids: readonly unknown[], options: EngineWaitOptions): Promise<unknown>;
}

/** What the CLI would get from its process. */
export interface EngineWorld {
  env: Record<string, string>;
  cwd: string;
}

export interface WriterAnswer {
  /** The record that stands, or null where there is none to use. */
  recordText: string | null;
  state: string;
  refused: boolean;
}

export interface ReapAnswer {
  won_transition: boolean;
  recordText: string | null;
  reason: string;
}

export interface EngineWaitOptions {
  maxWait?: number | string;
  pollInterval?: number | string;
}
