/** The length of a message is its first four bytes. Strangers may send short ones only. */
import type { FrameShape } from '../../../net/index.ts';
import { MESSAGE_BYTES_MAX, UNAUTHENTICATED_BYTES_MAX } from '../limits.ts';

export const HEADER_BYTES = 16;

const shape = { headerBytes: HEADER_BYTES, frameBytes: (header: Buffer) => header.readInt32LE(0) };

export const STRANGER_FRAMES: FrameShape = { ...shape, frameBytesMax: UNAUTHENTICATED_BYTES_MAX };
export const MONGO_FRAMES: FrameShape = { ...shape, frameBytesMax: MESSAGE_BYTES_MAX };
