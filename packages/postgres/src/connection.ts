import pg from 'pg';

/** A pool's connection. */
export class Connection extends pg.Client {
  /** The server's major version, which it says when it accepts the connection; 0 before that. */
  majorVersion = 0;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'server_version') this.majorVersion = Number.parseInt(parameterValue, 10);
    });
  }
}

type ParameterStatus = { parameterName: string; parameterValue: string };

/** A connection through a pooler, which may run each transaction on another server connection: it names no statement. */
export class PooledConnection extends Connection {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const send = this.query.bind(this) as (...sent: unknown[]) => unknown;
    const sendUnnamed = (statement: unknown, ...rest: unknown[]) =>
      send(isNamed(statement) ? { ...statement, name: undefined } : statement, ...rest);
    Object.assign(this, { query: sendUnnamed });
  }
}

const isNamed = (statement: unknown): statement is { name: string } =>
  typeof statement === 'object' && statement !== null && 'name' in statement && !('submit' in statement);
