/**
 * The server as the rest of the extension sees it: typed requests and notifications. The real one stands on
 * vscode-languageclient (server.ts); tests hand in one of their own. Names and shapes are those of the wire.
 */
import type { Translate } from './subject.ts';
import type { Methods } from './wire.gen.ts';

type Said<Kind, Direction> = {
  [M in keyof Methods as Methods[M] extends { kind: Kind; direction: Direction } ? M : never]: Methods[M];
};
type Params<T> = T extends { params: infer P } ? P : never;
type Result<T> = T extends { result: infer R } ? R : never;

type Asked = Said<'request', 'toServer'>;
type Tells = Said<'notification', 'toServer'>;
type Hears = Said<'notification', 'toClient'>;

/** What we ask of the server: params and result by method. */
export type Requests = { [M in keyof Asked]: [Params<Asked[M]>, Result<Asked[M]>] };
export type Notifications = { [M in keyof Tells]: Params<Tells[M]> };
/** What the server tells us. */
export type Told = { [M in keyof Hears]: Params<Hears[M]> };

export type LinkState = 'stopped' | 'starting' | 'running';

export interface Link {
  readonly state: LinkState;
  /** Rejects with a `ServerError` where the server answers with an error, also when there is no server. */
  request<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]>;
  /** Does nothing when there is no server. */
  notify<M extends keyof Notifications>(method: M, params: Notifications[M]): void;
}

/** An error answer. `kind` is the wire's `data.kind`, where the server gave one. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly kind: string | undefined,
  ) {
    super(message);
  }
}

export function asServerError(error: unknown): ServerError {
  if (error instanceof ServerError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const data: unknown = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  const kind =
    typeof data === 'object' && data !== null && 'kind' in data && typeof data.kind === 'string'
      ? data.kind
      : undefined;
  return new ServerError(message, kind);
}

/** The kind of an error that only says that no server was there to answer. */
export const DISCONNECTED = 'disconnected';

/** LSP's code for a request that could not be carried out: its message is a sentence of the server's. */
const REQUEST_FAILED = -32803;
/** How the connection itself ends a request: closed, not there any more, not read or not written. */
const CONNECTION_FAILED = new Set([-32096, -32097, -32098, -32099]);

/** The error in words for a person. What only the protocol knows is for the log. */
export function plainError(error: unknown, t: Translate): ServerError {
  const known = asServerError(error);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (error instanceof ServerError || known.kind !== undefined || code === REQUEST_FAILED) return known;
  return new ServerError(
    code === undefined || CONNECTION_FAILED.has(code as number)
      ? t('The server stopped before it answered.')
      : t('The server could not carry this out; its log says why.'),
    code === undefined || CONNECTION_FAILED.has(code as number) ? DISCONNECTED : undefined,
  );
}

/** Without the fields that are undefined: on the wire, absent and null differ. */
export function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
