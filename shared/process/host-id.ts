import { createHmac } from 'node:crypto';

/** A stable name for the machine that does not give its machine id away (machine-id(5) asks for this). */
export function hostIdFrom(machineId: string): string {
  return createHmac('sha256', machineId.trim()).update('liond host id v1').digest('hex').slice(0, 32);
}
