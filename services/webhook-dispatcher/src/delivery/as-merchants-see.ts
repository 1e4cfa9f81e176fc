/** A record as its merchant may read it. See merchantErrorCategories. */
export const asMerchantsSee = <T extends { error_category: string | null }>(record: T): T =>
  record.error_category === 'blocked_address' ? { ...record, error_category: 'dns_error' } : record;
