/** The errors for invalid tokens of an identity provider, with the substatus that clients know. */
import type { IdentityFault } from '../../../service/index.ts';
import { type AccessRefusal, unauthorized } from './refusal.ts';

const FAULTS: Readonly<Record<IdentityFault, readonly [number, string]>> = {
  disabled: [
    5002,
    'Microsoft Entra tokens are not accepted: start the server with --identity-keys or --identity-any.',
  ],
  format: [5003, 'The Microsoft Entra token is not a well-formed JWT.'],
  signature: [5004, 'The signature of the Microsoft Entra token is not valid.'],
  notYetValid: [5005, 'The Microsoft Entra token is not valid yet.'],
  expired: [5006, 'The Microsoft Entra token has expired.'],
  noExpiry: [5003, 'The Microsoft Entra token does not say when it expires.'],
  issuer: [5007, 'The issuer of the Microsoft Entra token is not the one this account trusts.'],
  audience: [5008, 'The audience of the Microsoft Entra token is not this account.'],
  noId: [5011, 'The Microsoft Entra token names no object id.'],
  keysUnavailable: [5200, 'The keys to check Microsoft Entra tokens with cannot be read.'],
};

export function identityRefusal(fault: IdentityFault): AccessRefusal {
  const [substatus, message] = FAULTS[fault];
  return unauthorized(message, `identity token: ${fault}`, substatus);
}
