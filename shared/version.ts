import manifest from '../package.json' with { type: 'json' };

export const IMPLEMENTATION_VERSION: string = manifest.version;

/** Format of the supervisor's index; a file of another one is set aside, never changed in place. */
export const INDEX_VERSION = 3;
