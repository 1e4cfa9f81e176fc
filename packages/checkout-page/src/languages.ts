import { ar } from './languages/ar.ts';
import { bn } from './languages/bn.ts';
import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fa } from './languages/fa.ts';
import { fr } from './languages/fr.ts';
import { hi } from './languages/hi.ts';
import { id } from './languages/id.ts';
import { it } from './languages/it.ts';
import { ja } from './languages/ja.ts';
import { ko } from './languages/ko.ts';
import { pl } from './languages/pl.ts';
import { pt } from './languages/pt.ts';
import { ru } from './languages/ru.ts';
import { th } from './languages/th.ts';
import type { Texts } from './languages/texts.ts';
import { tr } from './languages/tr.ts';
import { uk } from './languages/uk.ts';
import { ur } from './languages/ur.ts';
import { vi } from './languages/vi.ts';
import { zh } from './languages/zh.ts';

export type Language = {
  /** Value of `?lang=`: the language's two letters. */
  code: string;
  /** For Intl, on the server and in the browser alike; names the digits wherever their defaults have differed or may come to. */
  locale: string;
  /** In the language itself, for readers who do not understand the current one. */
  name: string;
  direction: 'ltr' | 'rtl';
  texts: Texts;
};

const english: Language = { code: 'en', locale: 'en', name: 'English', direction: 'ltr', texts: en };

/** English first, then script by script and in alphabetical order: readers find their own by its looks. */
export const languages: readonly Language[] = [
  english,
  { code: 'id', locale: 'id', name: 'Bahasa Indonesia', direction: 'ltr', texts: id },
  { code: 'de', locale: 'de', name: 'Deutsch', direction: 'ltr', texts: de },
  { code: 'es', locale: 'es', name: 'Español', direction: 'ltr', texts: es },
  { code: 'fr', locale: 'fr', name: 'Français', direction: 'ltr', texts: fr },
  { code: 'it', locale: 'it', name: 'Italiano', direction: 'ltr', texts: it },
  { code: 'pl', locale: 'pl', name: 'Polski', direction: 'ltr', texts: pl },
  { code: 'pt', locale: 'pt', name: 'Português', direction: 'ltr', texts: pt },
  { code: 'vi', locale: 'vi', name: 'Tiếng Việt', direction: 'ltr', texts: vi },
  { code: 'tr', locale: 'tr', name: 'Türkçe', direction: 'ltr', texts: tr },
  { code: 'ru', locale: 'ru', name: 'Русский', direction: 'ltr', texts: ru },
  { code: 'uk', locale: 'uk', name: 'Українська', direction: 'ltr', texts: uk },
  // Both kinds of digits are used with Arabic; these are the ones that wallets take, and the present default of the Unicode data.
  { code: 'ar', locale: 'ar-u-nu-latn', name: 'العربية', direction: 'rtl', texts: ar },
  { code: 'ur', locale: 'ur-u-nu-latn', name: 'اردو', direction: 'rtl', texts: ur },
  { code: 'fa', locale: 'fa-u-ca-persian-nu-arabext', name: 'فارسی', direction: 'rtl', texts: fa },
  { code: 'hi', locale: 'hi-u-nu-latn', name: 'हिन्दी', direction: 'ltr', texts: hi },
  { code: 'bn', locale: 'bn-u-nu-latn', name: 'বাংলা', direction: 'ltr', texts: bn },
  { code: 'th', locale: 'th-u-nu-latn', name: 'ไทย', direction: 'ltr', texts: th },
  { code: 'zh', locale: 'zh-Hans', name: '中文', direction: 'ltr', texts: zh },
  { code: 'ja', locale: 'ja', name: '日本語', direction: 'ltr', texts: ja },
  { code: 'ko', locale: 'ko', name: '한국어', direction: 'ltr', texts: ko },
];

/** Browsers send a handful of languages. Entries beyond this number are ignored, so that no header costs much. */
const MAX_ENTRIES = 50;

/**
 * The language to speak to this reader: the one asked for by link, else the best one that the browser accepts, else English.
 * Regions and scripts are ignored (pt-BR, zh-Hant), and old codes understood (`in` is Indonesian).
 * @param lang query parameter of the page. One that names no language of ours counts as not given.
 * @param acceptLanguage header as it came, however malformed.
 */
export function chooseLanguage(wish: { lang?: string | undefined; acceptLanguage?: string | undefined }): Language {
  return findLanguage(wish.lang ?? '') ?? chooseAccepted(wish.acceptLanguage ?? '') ?? english;
}

/**
 * RFC 4647 lookup: goes through the ranges from the most wanted on and takes the first that leads to a language of ours. The
 * negotiator that Express brings along ranks `de` below `fr` in "de-AT, fr;q=0.5, de;q=0.1", knows no old codes, takes q=5 for
 * a quality, and reads a header to its end, however long it is.
 */
function chooseAccepted(header: string): Language | undefined {
  const ranges = readRanges(header);
  const refused = new Set(ranges.filter(({ quality }) => quality === 0).map(({ tag }) => findLanguage(tag)));
  const acceptable = languages.filter((language) => !refused.has(language));
  for (const { tag } of ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)) {
    const found = tag === '*' ? acceptable[0] : findLanguage(tag);
    if (found !== undefined && acceptable.includes(found)) return found;
  }
  return undefined;
}

/** Source: RFC 9110, 12.4.2 and 12.5.4. Parts of another form are left out, the others count. */
function readRanges(header: string): { tag: string; quality: number }[] {
  return header.split(',', MAX_ENTRIES).flatMap((part) => {
    const [, tag, quality = '1'] = rangePattern.exec(part.trim()) ?? [];
    return tag === undefined ? [] : [{ tag, quality: Number(quality) }];
  });
}

const rangePattern = /^([a-z0-9-]{1,100}|\*)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/i;

/** Our language for a tag, ignoring its region and script. */
export function findLanguage(tag: string): Language | undefined {
  try {
    const { language } = new Intl.Locale(tag);
    return languages.find(({ code }) => code === language);
  } catch {
    return undefined; // No language tag at all.
  }
}
