/** The version that clients decide by. */
import type { Command } from '../../call.ts';
import { DOCUMENT_BYTES_MAX } from '../../limits.ts';
import { documentOf, ok } from '../../reply.ts';
import { SERVER_VERSION } from './server-version.ts';

export const buildInfo: Command = {
  needs: 'nothing',
  fields: {},
  run: ({ context }) =>
    ok({
      version: SERVER_VERSION,
      gitVersion: `mesocosm ${context.version}`,
      modules: [],
      allocator: 'system',
      javascriptEngine: 'quickjs',
      sysInfo: 'deprecated',
      versionArray: [...SERVER_VERSION.split('.').map(Number), 0],
      openssl: documentOf({
        running: process.versions.openssl,
        compiled: process.versions.openssl,
      }),
      buildEnvironment: documentOf({
        distmod: '',
        distarch: process.arch,
        cc: '',
        ccflags: '',
        cxx: '',
        cxxflags: '',
        linkflags: '',
        target_arch: process.arch,
        target_os: process.platform,
        cppdefines: '',
      }),
      bits: 64,
      debug: false,
      maxBsonObjectSize: DOCUMENT_BYTES_MAX,
      storageEngines: ['mesocosm'],
    }),
};
