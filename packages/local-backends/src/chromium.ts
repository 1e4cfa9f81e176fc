import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';
import { placesOnPath } from './on-path.ts';

export type Chromium = {
  program: string;
  /** What it needs in its environment beside the usual. */
  env: Record<string, string>;
  /** Whether this machine lets it shut its pages in; otherwise it only starts with `--no-sandbox`. */
  canSandbox: boolean;
};

export type ChromiumOptions = {
  /** Takes unpacked programs; processes may share it. */
  toolsDirectory: string;
  /** Fonts for every language of the checkout page are fetched where the machine lacks some: for people who look at pictures. */
  forReading?: boolean;
};

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const macPrograms = ['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** A language of each script that the checkout page is written in, and of the Latin letters that not every font has. */
const readLanguages = ['en', 'ru', 'vi', 'ar', 'fa', 'hi', 'zh-cn'];

/**
 * The browser that CHROMIUM names, else the machine's, else Debian's without windows, unpacked below `toolsDirectory` with all
 * the libraries and the font that the machine lacks.
 * @throws Error saying what to install when there is none of them.
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

/** 100 MB from Debian, of which only the program and what it reads at its start are used; seconds, once a checkout. */
export async function unpackedChromium(toolsDirectory: string): Promise<Pick<Chromium, 'program' | 'env'>> {
  const root = await unpackDebianPackages(toolsDirectory, {
    name: 'chromium',
    packages: ['chromium-headless-shell', 'chromium-common', 'fonts-dejavu-core'],
    libraries: 'all',
    adapt: writeFontsFile,
  });
  const libraries = await libraryPath(root);
  // Some of Debian's libraries are looked for in a folder of their own, by its full name on an installed system.
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

/** 14 MB from Debian; Noto has every script but Chinese. */
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

/** The machine's own fonts, where it has any, and those of the tree, wherever it lies; without a rule any font may stand in for another. */
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

/** @returns whether the machine's fonts have the letters of all these languages; no where fontconfig's programs are missing. */
function canWrite(languages: string[]): boolean {
  return languages.every((language) => {
    const listed = spawnSync('fc-list', [`:lang=${language}`, 'family'], { encoding: 'utf8' });
    return listed.status === 0 && listed.stdout.trim() !== '';
  });
}

/** Chromium's sandbox needs user namespaces, which root's browser refuses and many containers forbid. */
function canSandbox(): boolean {
  if (process.platform !== 'linux') return true;
  if (process.getuid?.() === 0) return false;
  return spawnSync('unshare', ['--user', '--map-root-user', 'true'], { stdio: 'ignore' }).status === 0;
}
