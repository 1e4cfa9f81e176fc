import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ListOperators, ReadOperatorAudit } from '@quittance/contracts/http/api-gateway/people.ts';
import {
  isMerchantPerson,
  mayAct,
  mayCall,
  type Access,
  type MerchantRole,
  type Principal,
} from '@quittance/contracts/principal.ts';

/** Who looks, and at which page. */
type Visitor = Principal & { path: string };

/** A place in the navigation. @property also where other pages of the section are. @property access the operators, or `role` the merchant's people, who see it; everybody by default. */
type Section = { path: string; name: string; also?: readonly string[]; access?: Access; role?: MerchantRole };
type Group = { title: string | null; sections: readonly Section[] };

const ofOperators: readonly Group[] = [
  {
    title: null,
    sections: [
      { path: '/', name: 'Overview' },
      { path: '/payments', name: 'Payments' },
      { path: '/transfers', name: 'Transfers' },
    ],
  },
  {
    title: 'Merchants',
    sections: [
      { path: '/merchants', name: 'Merchants' },
      { path: '/wallets', name: 'Wallets' },
      { path: '/webhooks', name: 'Webhooks', also: ['/events'] },
    ],
  },
  {
    title: 'System',
    sections: [
      { path: '/networks', name: 'Networks' },
      { path: '/incidents', name: 'Incidents' },
      { path: '/runbooks', name: 'Runbooks' },
    ],
  },
  {
    title: 'People',
    sections: [
      { path: '/operators', name: 'Operators', access: ListOperators.access },
      { path: '/audit', name: 'Audit', access: ReadOperatorAudit.access },
    ],
  },
];

/** What a merchant's people see of their own data. Nothing else is there for them. */
const ofMerchants: readonly Group[] = [
  {
    title: null,
    sections: [
      { path: '/my', name: 'Start' },
      { path: '/my/payments', name: 'Payments' },
      { path: '/my/new-payment', name: 'New payment', role: 'staff' },
      { path: '/my/transfers', name: 'Transfers' },
      { path: '/my/report', name: 'Report' },
    ],
  },
  {
    title: 'Shop',
    sections: [
      { path: '/my/wallets', name: 'Wallets' },
      { path: '/my/webhooks', name: 'Webhooks' },
      { path: '/my/notices', name: 'Notices', role: 'owner' },
      { path: '/my/profile', name: 'Profile', role: 'owner' },
      { path: '/my/keys', name: 'API keys', role: 'owner' },
      { path: '/my/team', name: 'Team', role: 'owner' },
      { path: '/my/limits', name: 'Limits' },
    ],
  },
];

/** The groups that a person sees. */
const groupsOf = (viewer: Visitor): readonly Group[] =>
  isMerchantPerson(viewer)
    ? ofMerchants.map((group) => ({
        ...group,
        sections: group.sections.filter(({ role = 'viewer' }) => mayAct(viewer, role)),
      }))
    : ofOperators.map((group) => ({
        ...group,
        sections: group.sections.filter(({ access = 'viewer' }) => mayCall(viewer, access)),
      }));

/** First pages have none below them. */
const isWithin = (path: string, section: string): boolean =>
  path === section || (!['/', '/my'].includes(section) && path.startsWith(`${section}/`));

/** The section that a page belongs to; null for a page of none. */
const sectionAt = (viewer: Visitor): Section | null =>
  groupsOf(viewer)
    .flatMap(({ sections }) => sections)
    .find(({ path, also = [] }) => [path, ...also].some((one) => isWithin(viewer.path, one))) ?? null;

/** Groups of links. @param label tells the two navigations of a page apart. */
export function navigation(viewer: Visitor, label: string): Html {
  const here = sectionAt(viewer);
  const groups = groupsOf(viewer).filter(({ sections }) => sections.length > 0);
  return html`<nav aria-label="${label}">
    ${groups.map(
      ({ title, sections }) => html`
        ${title === null ? [] : html`<p class="group">${title}</p>`}
        <ul>
          ${sections.map(({ path, name }) => {
            const current = path === viewer.path ? 'page' : path === here?.path ? 'true' : 'false';
            return html`<li><a href="${path}" aria-current="${current}">${name}</a></li>`;
          })}
        </ul>
      `,
    )}
  </nav>`;
}

/** The way back to the list, on every page below one. */
export function wayBack(viewer: Visitor): Html {
  const here = sectionAt(viewer);
  return here === null || here.path === viewer.path
    ? html``
    : html`<p class="back"><a href="${here.path}">${here.name}</a></p>`;
}
