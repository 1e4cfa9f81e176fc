/** Runs all five services in one process. Each has its own schema, role, messages and port, as if it ran alone. */
import './environment.ts';
import '@quittance/api-gateway/src/main.ts';
import '@quittance/chain-watcher/src/main.ts';
import '@quittance/payments/src/main.ts';
import '@quittance/quota/src/main.ts';
import '@quittance/webhook-dispatcher/src/main.ts';
