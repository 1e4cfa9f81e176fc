import { signInLinkPath, type SignInLink } from '@quittance/contracts/http/api-gateway/sign-in-links.ts';
import type { Config } from './config.ts';

/** Where the link leads; without CONSOLE_URL only the end of it, which goes behind the console's address. */
export const signInAddress = ({ consoleUrl }: Pick<Config, 'consoleUrl'>, { link }: Pick<SignInLink, 'link'>): string =>
  `${consoleUrl.replace(/\/+$/, '')}${signInLinkPath(link)}`;
