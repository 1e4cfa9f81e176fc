import { connect } from 'amqplib';
import { withDatabase } from '../../support/database.ts';

/** As the running server reports it, such as `18.4`. */
export const postgresVersion = (adminUrl: string): Promise<string> =>
  withDatabase(adminUrl, async (db) => {
    const { rows } = await db.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? 'unknown';
  });

/** As the running broker reports it, such as `4.1.3`. */
export async function rabbitmqVersion(amqpUrl: string): Promise<string> {
  const model = await connect(amqpUrl);
  try {
    return model.connection.serverProperties.version;
  } finally {
    await model.close();
  }
}
