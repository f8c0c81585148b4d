/** A description of the machine. */
import { arch, cpus, freemem, platform, release, totalmem, version } from 'node:os';
import { Extended } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { documentOf, ok } from '../../reply.ts';
import { addressText } from './hello.ts';

export const hostInfo: Command = {
  needs: 'read',
  fields: {},
  run({ connection, context }) {
    const cores = cpus().length;
    const megabytes = (bytes: number): bigint => BigInt(Math.floor(bytes / 2 ** 20));
    return ok({
      system: documentOf({
        currentTime: new Extended({ kind: 'date', ms: context.service.clock.nowMs() }),
        hostname: addressText(connection.info),
        cpuAddrSize: 64,
        memSizeMB: megabytes(totalmem()),
        memLimitMB: megabytes(totalmem()),
        numCores: cores,
        numCoresAvailableToProcess: cores,
        numPhysicalCores: cores,
        numCpuSockets: 1,
        cpuArch: arch(),
        numaEnabled: false,
        numNumaNodes: 1,
      }),
      os: documentOf({ type: platform(), name: 'mesocosm', version: release() }),
      extra: documentOf({
        versionString: version(),
        freeMemMB: megabytes(freemem()),
        pageSize: 4096n,
      }),
    });
  },
};
