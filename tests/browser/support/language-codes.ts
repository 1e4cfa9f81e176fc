/** The languages of the checkout page, as in `?lang=`. */
export const languageCodes = ['en', 'es', 'pt', 'fr', 'de', 'tr', 'ru', 'uk', 'ar', 'fa', 'zh', 'vi', 'id', 'hi'];
