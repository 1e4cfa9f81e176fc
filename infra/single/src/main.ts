/** All five services in one process, each with its own schema, role, messages and port, as if it had a process to itself. */
import './environment.ts';
import '@quittance/api-gateway/src/main.ts';
import '@quittance/chain-watcher/src/main.ts';
import '@quittance/payments/src/main.ts';
import '@quittance/quota/src/main.ts';
import '@quittance/webhook-dispatcher/src/main.ts';
