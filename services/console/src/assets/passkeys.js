/** A form with `data-passkey` asks the device for a passkey, and is sent with its answer. */

const isKnown = typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const problem = form.querySelector('[role="alert"]');
  const say = (text) => {
    problem.textContent = text;
    problem.hidden = text === '';
  };
  if (!isKnown) {
    say('This browser cannot use passkeys: update it, or use another one.');
    continue;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    say('');
    try {
      form.elements.namedItem(form.dataset.answer).value = JSON.stringify(await answerOf(form));
      form.submit();
    } catch (error) {
      // The browser does not say whether the person stopped it, or has no such passkey.
      say(error.name === 'NotAllowedError' ? 'That did not work. Try again.' : error.message);
    }
  });
}

async function answerOf({ dataset: { passkey, options } }) {
  const asked = JSON.parse(options);
  const credential =
    passkey === 'create'
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
  return credential.toJSON();
}
