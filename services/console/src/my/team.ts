import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  AddMerchantLogin,
  DisableMerchantLogin,
  LinkMerchantLogin,
  ListMerchantLogins,
  SetMerchantLoginRole,
  signInLinkPath,
  type MerchantLogin,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { merchantRoles, type MerchantRole } from '@quittance/contracts/principal.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { facts } from '@quittance/operator/view.ts';
import { timeOf } from '../cell.ts';
import { form as formOf, page } from '../frame.ts';
import { htmlReply, paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { render } from '../view.ts';
import { button, choiceField, fieldsForm, given, ownAction, ownForm, textField } from './form.ts';
import { authorOf } from './keys.ts';

const TEAM = '/my/team';

const roleNames: Record<MerchantRole, string> = {
  viewer: 'Viewer: looks at everything',
  staff: 'Staff: also creates and cancels payments, and accepts transfers',
  owner: 'Owner: also settings, keys, wallets and people',
};

/** The people of a merchant. */
export const teamRoutes = (context: Context): Route[] => [
  ...ownForm(context, {
    path: TEAM,
    title: 'Team',
    role: 'owner',
    show: async (visit, form) => {
      const { logins } = await visit.services.call(ListMerchantLogins, paramsOf(visit.viewer));
      return html`${logins.map((login) => loginCard(visit, login))}
        <section>
          <h2>Invite a person</h2>
          ${fieldsForm(
            visit,
            TEAM,
            [
              textField({
                ...{ name: 'name', label: 'Name', value: given(form, 'name'), isRequired: true, maxLength: 40 },
                help: 'Lower case, without spaces. It stays with this person, because the audit log has it.',
              }),
              choiceField('role', 'Role', [...merchantRoles], given(form, 'role') ?? 'staff', { names: roleNames }),
            ],
            'Invite',
          )}
        </section>`;
    },
    act: async (visit, form) => {
      const body = { name: given(form, 'name') ?? '', role: roleIn(form) };
      const author = authorOf(visit);
      const added = await visit.services.call(AddMerchantLogin, { ...paramsOf(visit.viewer), body, author });
      return added.link === undefined ? TEAM : linkShown(visit, body.name, added.link, added.ends_at ?? null);
    },
  }),
  ownAction(context, '/my/team/role', async (visit, form) => {
    const given_ = { ...onePerson(visit, form), body: { role: roleIn(form) } };
    await visit.services.call(SetMerchantLoginRole, { ...given_, author: authorOf(visit) });
    return TEAM;
  }),
  ownAction(context, '/my/team/link', async (visit, form) => {
    const one = onePerson(visit, form);
    const { link, ends_at } = await visit.services.call(LinkMerchantLogin, { ...one, author: authorOf(visit) });
    return htmlReply(200, page('Sign-in link', visit.viewer, linkShown(visit, one.params.name, link, ends_at)));
  }),
  ownAction(context, '/my/team/disable', async (visit, form) => {
    await visit.services.call(DisableMerchantLogin, { ...onePerson(visit, form), author: authorOf(visit) });
    return TEAM;
  }),
];

const onePerson = ({ viewer }: OwnVisit, form: URLSearchParams) => ({
  params: { ...paramsOf(viewer).params, name: given(form, 'name') ?? '-' },
});

/** What it is not, the service refuses. */
const roleIn = (form: URLSearchParams): MerchantRole => (given(form, 'role') ?? 'viewer') as MerchantRole;

/** The address that signs in, at the host at which the owner is. */
function linkShown({ request: { headers }, viewer }: OwnVisit, name: string, link: string, until: string | null): Html {
  const origin = headers.origin ?? `https://${headers.host ?? ''}`;
  return html`<p>Send this link to ${name}, and to nobody else. It works once, and asks for a passkey.</p>
    ${render([facts({ link: `${origin}${signInLinkPath(link)}`, 'works until': until })], viewer)}
    <p><a href="${TEAM}">I have sent it</a></p>`;
}

function loginCard(visit: OwnVisit, { name, role, last_used_at: used, disabled_at: disabled }: MerchantLogin): Html {
  const { viewer } = visit;
  const isOwn = name === viewer.name;
  return html`<div class="card">
    <strong>${name}</strong>
    <p class="quiet-text">
      ${roleNames[role]}${used === null ? '' : html`. Last signed in ${timeOf(used)}`}${disabled === null ? '' : html`. Disabled ${timeOf(disabled)}`}
    </p>
    ${
      disabled !== null || isOwn
        ? []
        : html`<div class="actions">
            ${formOf(
              '/my/team/role',
              viewer,
              html`<input type="hidden" name="name" value="${name}" />
                <label for="role-${name}" class="hidden">New role of ${name}</label>
                <select id="role-${name}" name="role">
                  ${merchantRoles.map((one) => html`<option value="${one}" ${one === role ? html`selected` : []}>${one}</option>`)}
                </select>
                <button class="quiet">Change the role</button>`,
            )}
            ${button(visit, '/my/team/link', 'New sign-in link', { name })}
            ${button(visit, '/my/team/disable', `Disable ${name}`, { name }, 'danger')}
          </div>`
    }
  </div>`;
}
