import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';
import { placesOnPath } from './on-path.ts';

export type Chromium = {
  program: string;
  /** The environment variables that it needs in addition to the usual ones. */
  env: Record<string, string>;
  /** Whether this machine permits its sandbox. Otherwise it only starts with `--no-sandbox`. */
  canSandbox: boolean;
};

export type ChromiumOptions = {
  /** The directory for unpacked programs; processes may share it. */
  toolsDirectory: string;
  /** Downloads missing fonts for every language of the checkout page, for people who look at screenshots. */
  forReading?: boolean;
};

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const macPrograms = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** One language for each script of the checkout page, and for the Latin letters that some fonts lack. */
const readLanguages = ['en', 'ru', 'vi', 'ar', 'fa', 'ur', 'hi', 'bn', 'th', 'zh-cn', 'ja', 'ko'];

/**
 * The browser that CHROMIUM names, else the machine's, else Debian's headless one, unpacked below `toolsDirectory` with
 * all libraries and the font that the machine lacks.
 * @throws Error that says what to install when there is none.
 */
export async function findChromium({ toolsDirectory, forReading = false }: ChromiumOptions): Promise<Chromium> {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '' && !existsSync(named)) throw new Error(`CHROMIUM names no file: ${named}`);
  const installed = named || installedProgram();
  const found = installed === undefined ? await unpackedChromium(toolsDirectory) : { program: installed, env: {} };
  const fonts = forReading && !canWrite(readLanguages) ? await unpackedFonts(toolsDirectory) : {};
  return { ...found, env: { ...found.env, ...fonts }, canSandbox: canSandbox() };
}

function installedProgram(): string | undefined {
  return [...placesOnPath(...names), ...macPrograms].find((file) => existsSync(file));
}

/**
 * Downloads 100 MB from Debian, of which only the program and its start-up files are used. Takes seconds, once per
 * checkout.
 */
export async function unpackedChromium(toolsDirectory: string): Promise<Pick<Chromium, 'program' | 'env'>> {
  const root = await unpackDebianPackages(toolsDirectory, {
    name: 'chromium',
    packages: ['chromium-headless-shell', 'chromium-common', 'fonts-dejavu-core'],
    libraries: 'all',
    adapt: writeFontsFile,
  });
  const libraries = await libraryPath(root);
  // Some of Debian's libraries are in their own folder, which an installed system finds by its full path.
  const nested = await Promise.all(libraries.split(delimiter).filter(Boolean).map(foldersOf));
  return {
    program: join(root, 'usr/lib/chromium/chromium-headless-shell'),
    env: {
      LD_LIBRARY_PATH: [libraries, ...nested.flat()].filter(Boolean).join(delimiter),
      FONTCONFIG_FILE: fontsFile(root),
    },
  };
}

async function foldersOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
}

/** Downloads 14 MB from Debian. Noto has every script except Chinese. */
async function unpackedFonts(toolsDirectory: string): Promise<Record<string, string>> {
  const root = await unpackDebianPackages(toolsDirectory, {
    name: 'fonts',
    packages: ['fonts-noto-core', 'fonts-noto-mono', 'fonts-wqy-microhei'],
    adapt: writeFontsFile,
  });
  return { FONTCONFIG_FILE: fontsFile(root) };
}

const fontsFile = (root: string): string => join(root, 'fonts.conf');

const generic = ['sans-serif', 'serif', 'monospace'];

/**
 * Lists the machine's own fonts, if it has any, and those of the tree. Without a rule, any font may replace another.
 */
async function writeFontsFile(root: string): Promise<void> {
  const prefer = (family: string, fonts: string[]) =>
    `<alias><family>${family}</family><prefer>${fonts.map((font) => `<family>${font}</family>`).join('')}</prefer></alias>`;
  await writeFile(
    fontsFile(root),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <match target="pattern">
    ${generic.map((family) => `<test qual="all" name="family" compare="not_eq"><string>${family}</string></test>`).join('')}
    <edit name="family" mode="append_last"><string>sans-serif</string></edit>
  </match>
  ${prefer('sans-serif', ['Noto Sans', 'DejaVu Sans'])}
  ${prefer('monospace', ['Noto Sans Mono', 'Noto Mono', 'DejaVu Sans Mono'])}
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`,
  );
}

/**
 * @returns whether the machine's fonts have the letters of all these languages; false without fontconfig's programs.
 */
function canWrite(languages: string[]): boolean {
  return languages.every((language) => {
    const listed = spawnSync('fc-list', [`:lang=${language}`, 'family'], { encoding: 'utf8' });
    return listed.status === 0 && listed.stdout.trim() !== '';
  });
}

/** Chromium's sandbox needs user namespaces. It doesn't work as root, and many containers forbid them. */
function canSandbox(): boolean {
  if (process.platform !== 'linux') return true;
  if (process.getuid?.() === 0) return false;
  return spawnSync('unshare', ['--user', '--map-root-user', 'true'], { stdio: 'ignore' }).status === 0;
}
