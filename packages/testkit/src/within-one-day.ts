/** Runs a test of a UTC day's counts, and again if midnight passed during the run. */
export async function withinOneDay(run: () => Promise<void>): Promise<void> {
  const today = () => new Date().toISOString().slice(0, 10);
  const day = today();
  try {
    await run();
  } catch (error) {
    if (day === today()) throw error;
    await run();
  }
}
