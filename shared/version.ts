import manifest from '../package.json' with { type: 'json' };

export const IMPLEMENTATION_VERSION: string = manifest.version;
