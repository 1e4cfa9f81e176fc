/*
 * When the European Central Bank publishes its reference rates: on each business day of TARGET, at about 16:00 Central European Time. Source:
 * ecb.europa.eu, "Euro foreign exchange reference rates" and "TARGET closing days".
 */

const DAY_MS = 86_400_000;

/** 16:00 in Frankfurt in winter; in summer the rates are there an hour earlier. */
const PUBLISHED_AT_UTC_HOUR = 15;

/** The bank is sometimes late, and a rate of the day before is a small error. */
const LATE_HOURS = 6;

/** The longest closed time is from Good Friday to Easter Monday, and a day more is never needed. */
const CLOSED_DAYS_MAX = 7;

/** @returns the day of the rates that must be there at a time, `2026-01-31`. */
export function dayDue(now: Date): string {
  const published = new Date(now.getTime() - (PUBLISHED_AT_UTC_HOUR + LATE_HOURS) * 3_600_000);
  for (let days = 0; days <= CLOSED_DAYS_MAX; days += 1) {
    const day = new Date(published.getTime() - days * DAY_MS);
    if (isBusinessDay(day)) return dayOf(day);
  }
  throw new Error(`no business day in the week before ${now.toISOString()}`);
}

/** Fixed closing days of TARGET: New Year, Labour Day, Christmas. */
const closed = ['01-01', '05-01', '12-25', '12-26'];

/** Days before (negative) and after Easter Sunday: Good Friday and Easter Monday. */
const closedAroundEaster = [-2, 1];

export function isBusinessDay(day: Date): boolean {
  const weekday = day.getUTCDay();
  if (weekday === 0 || weekday === 6 || closed.includes(dayOf(day).slice(5))) return false;
  const easter = easterSunday(day.getUTCFullYear());
  return !closedAroundEaster.some((days) => dayOf(new Date(easter.getTime() + days * DAY_MS)) === dayOf(day));
}

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** By the algorithm of Meeus, Jones and Butcher for the Gregorian calendar. */
function easterSunday(year: number): Date {
  const golden = year % 19;
  const [century, ofCentury] = [Math.floor(year / 100), year % 100];
  const [leaps, restOfLeaps] = [Math.floor(century / 4), century % 4];
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const epact = (19 * golden + century - leaps - correction + 15) % 30;
  const weekday = (32 + 2 * restOfLeaps + 2 * Math.floor(ofCentury / 4) - epact - (ofCentury % 4)) % 7;
  const shift = Math.floor((golden + 11 * epact + 22 * weekday) / 451);
  const days = epact + weekday - 7 * shift + 114;
  return new Date(Date.UTC(year, Math.floor(days / 31) - 1, (days % 31) + 1));
}
