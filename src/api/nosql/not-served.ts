/** What later versions will do: their feeds are empty where their owner exists, everything else is told so. */
import { type Call, type Operation, resourceNotFound } from './call.ts';
import { RequestError } from './errors.ts';
import { emptyFeed } from './feed.ts';
import { isQuery } from './query-body.ts';
import type { Reply } from './reply.ts';

export function refusal(what: string): RequestError {
  return new RequestError(400, `${what}: not served yet by this version of the server.`);
}

export function notServedYet(what: string): Operation {
  return () => {
    throw refusal(what);
  };
}

/** The feed of a container's resources of a kind nobody can create yet. */
export function emptyContainerFeed(key: string): Operation {
  return (call) => emptyFeed(call, { rid: call.ownerContainer().rid, key });
}

/** POST on such a feed: a query finds nothing, a creation is refused. */
export function queryOrRefuse(feed: Operation, what: string): Operation {
  return (call) => {
    if (isQuery(call)) return feed(call);
    throw refusal(what);
  };
}

/** One resource of such a kind: there is none. */
export function absentInContainer(call: Call): Reply {
  call.ownerContainer();
  throw resourceNotFound();
}
