/** The import rules of ARCHITECTURE.md, each with its reason. */
const deciding =
  '^(daemon/(decide|notice-counts)|shared/.*/(derive|judge|admit|partition|horizon|classify|substitute|delivery-state|next-step|next-words|notice-filter|skip-rule|policy|failure-class|identify|end|claim-facts|backoff|settle))\\.ts$';

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
      name: 'not-to-dev-dep',
      severity: 'error',
      comment: 'What ships must be a dependency.',
      from: { path: '^(shared|cli|daemon)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
