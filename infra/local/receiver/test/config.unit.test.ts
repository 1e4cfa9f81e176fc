import { expect, test } from '@jest/globals';
import { readConfig } from '../config.ts';

const env = {
  RECEIVER_HOST: '127.0.0.1',
  RECEIVER_TLS_PORT: '1',
  RECEIVER_CONTROL_PORT: '2',
  RECEIVER_CA_CERT: 'ca.pem',
  RECEIVER_CA_KEY: 'ca-key.pem',
};

test('the control port accepts the names of this machine, and that of RECEIVER_URL', () => {
  expect(readConfig(env).controlNames).toEqual(['127.0.0.1', 'localhost', '[::1]']);
  const named = readConfig({ ...env, RECEIVER_URL: 'http://receiver:8080' });
  expect(named.controlNames).toEqual(['127.0.0.1', 'localhost', '[::1]', 'receiver']);
  expect(() => readConfig({ ...env, RECEIVER_URL: 'receiver' })).toThrow('RECEIVER_URL is not a URL');
});
