/** The languages of the checkout page, as `?lang=` names them. */
export const languageCodes = ['en', 'es', 'pt', 'fr', 'de', 'tr', 'ru', 'uk', 'ar', 'fa', 'zh', 'vi', 'id', 'hi'];
