import type { Page } from 'playwright-core';

/** Gives the page's browser a device that keeps passkeys and confirms each use by itself. @returns how to take it away. */
export async function giveDevice(page: Page): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return async () => {
    await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
  };
}

/** Adds the first passkey of a person who has signed in. */
export async function addPasskey(page: Page, consoleUrl: string, name: string): Promise<void> {
  await page.goto(`${consoleUrl}/account`);
  await page.getByLabel('Name of your first passkey').fill(name);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Create the passkey' }).click();
  await page.getByText(name, { exact: true }).waitFor();
}
