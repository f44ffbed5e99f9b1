import type { ProcessTable } from './table.ts';

export declare const darwinProcesses: ProcessTable;
