import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReadOwnProfile, SetOwnProfile } from '@quittance/contracts/api/calls.ts';
import {
  DISPLAY_NAME_MAX,
  EMBED_ORIGINS_MAX,
  LOGO_MAX_BYTES,
  LOGO_MAX_PIXELS,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Context, OwnVisit } from '../page-route.ts';
import { areaField, checkField, fieldsForm, given, ownForm, textField } from './form.ts';

const PROFILE = '/my/profile';

/** What customers see of the shop. */
export const profileRoutes = (context: Context): Route[] =>
  ownForm(context, {
    path: PROFILE,
    title: 'Profile',
    role: 'owner',
    show: profileForm,
    act: async ({ services }, form) => {
      await services.call(SetOwnProfile, { body: profileIn(form) });
      return `${PROFILE}?saved=yes`;
    },
  });

async function profileForm(visit: OwnVisit, form: URLSearchParams): Promise<Html> {
  const isSent = form.has('display_name');
  const now = await visit.services.call(ReadOwnProfile);
  const value = (name: 'display_name' | 'accent_color' | 'support_url' | 'support_email') =>
    isSent ? given(form, name) : now[name];
  const origins = isSent ? given(form, 'embed_origins') : (now.embed_origins ?? []).join('\n');
  return html`${form.get('saved') === 'yes' ? html`<p role="status" class="notice">Saved.</p>` : []}
  ${fieldsForm(
    visit,
    PROFILE,
    [
      textField({
        ...{
          name: 'display_name',
          label: 'Name of your shop',
          value: value('display_name'),
          maxLength: DISPLAY_NAME_MAX,
        },
        help: 'Customers see it as the one they pay.',
      }),
      html`<label for="logo-file">Logo</label>
        ${now.logo === null ? [] : html`<p class="quiet-text">There is one now.</p>`}
        <input
          id="logo-file"
          type="file"
          accept="image/png"
          data-into="logo"
          data-max-bytes="${String(LOGO_MAX_BYTES)}"
          aria-describedby="logo-help"
        />
        <p class="help" id="logo-help">
          A PNG file of at most ${String(LOGO_MAX_BYTES / 1024)} KiB and ${String(LOGO_MAX_PIXELS)} ×
          ${String(LOGO_MAX_PIXELS)} pixels.
        </p>
        <input type="hidden" name="logo" value="" />
        ${now.logo === null ? [] : checkField('no_logo', 'Remove the logo', false)}`,
      textField({
        ...{ name: 'accent_color', label: 'Color', value: value('accent_color'), maxLength: 7 },
        help: 'Of buttons, as # and six hex digits. It is made darker or lighter where text would be hard to read.',
      }),
      textField({ name: 'support_email', label: 'E-mail for questions', value: value('support_email'), type: 'email' }),
      textField({
        ...{
          name: 'support_url',
          label: 'Page for questions',
          value: value('support_url'),
          type: 'url',
          maxLength: 2000,
        },
      }),
      areaField({
        ...{ name: 'embed_origins', label: 'Sites that may show the page in a frame', value: origins },
        help: `One a line, such as https://shop.example; at most ${EMBED_ORIGINS_MAX}. Only sites that are yours.`,
      }),
    ],
    'Save',
  )}`;
}

/** Without a new logo, the old one stays. */
function profileIn(form: URLSearchParams): object {
  const origins = (given(form, 'embed_origins') ?? '').split(/\s+/).filter((line) => line !== '');
  const logo = given(form, 'logo');
  return {
    display_name: given(form, 'display_name'),
    accent_color: given(form, 'accent_color'),
    support_email: given(form, 'support_email'),
    support_url: given(form, 'support_url'),
    embed_origins: origins.length === 0 ? null : origins,
    ...(given(form, 'no_logo') === 'yes' ? { logo: null } : logo !== null && { logo }),
  };
}
