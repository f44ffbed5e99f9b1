/** The import rules of ARCHITECTURE.md, each with its reason. */
const deciding =
  '^(daemon/(decide|notice-counts)|shared/.*/(decide|derive|judge|admit|partition|horizon|classify|substitute|delivery-state|next-step|next-words|notice-filter|skip-rule|policy|failure-class|identify|end|claim-facts|backoff|settle))\\.ts$';

/** As the build names them external (`bundle` of package.json). */
const loaded = 'koffi|pino|better-sqlite3';
/** Docs: docs/decisions/0006-dependencies.md. */
const bundled = 'chokidar|commander|jsonc-parser|node-cron|p-limit|pidusage|shlex|string-width|yaml|zod';

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A reader must be able to go from a caller to its leaves with no turning back.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'shared-stands-alone',
      comment: 'The engine knows neither binary: readers and supervisor call the same primitives.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(cli|daemon)/' },
    },
    {
      name: 'cli-not-daemon',
      comment: 'lion answers from the files alone; it must work with no supervisor on the machine.',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^daemon/' },
    },
    {
      name: 'daemon-not-cli',
      comment: 'The supervisor adds promptness, never a second surface.',
      severity: 'error',
      from: { path: '^daemon/' },
      to: { path: '^cli/' },
    },
    {
      name: 'deciding-modules-are-pure',
      comment: 'A decision gets facts, now and policy and returns a value: no files, processes or timers.',
      severity: 'error',
      from: { path: deciding },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'production-never-imports-tests',
      severity: 'error',
      comment: 'No test switch in production code.',
      from: { path: '^(shared|cli|daemon)/' },
      to: { path: '^test/' },
    },
    {
      name: 'loaded-at-run-time-is-a-dependency',
      severity: 'error',
      comment: 'The bundles leave these three out, so an installation has to bring them.',
      from: { path: '^(shared|cli|daemon)/' },
      to: { path: `node_modules/(${loaded})/`, dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'bundled-or-a-dependency',
      severity: 'error',
      comment:
        'What a bundle holds is a development dependency of its own line here; any other is for tests.',
      from: { path: '^(shared|cli|daemon)/' },
      to: {
        pathNot: `node_modules/(${loaded}|${bundled}|@types/.*)/`,
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-no-pkg', 'npm-unknown'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
