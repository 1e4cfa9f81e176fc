/** What pages of the console do in the browser. Each of them is complete without it, except that nothing is copied. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** As the server writes times, in the zone of the browser. */
const formats = Object.fromEntries(
  ['short', 'medium'].map((timeStyle) => [
    timeStyle,
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle }),
  ]),
);

for (const time of document.querySelectorAll('time[data-style]')) {
  time.title = time.textContent;
  time.textContent = formats[time.dataset.style].format(new Date(time.dateTime));
}
for (const place of document.querySelectorAll('[data-zone]')) place.textContent = zone;

const COPIED_MS = 1500;

for (const text of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.ariaLabel = `Copy ${text.dataset.copy}`;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.dataset.copy);
    button.classList.add('copied');
    setTimeout(() => button.classList.remove('copied'), COPIED_MS);
  });
  text.append(button);
}

// A file goes into its form as base64, in the hidden field before the form is sent. One that is too large would make the form too large,
// and what was typed would be lost, so the browser does not send it.
for (const input of document.querySelectorAll('input[type="file"][data-into]')) {
  input.addEventListener('change', async () => {
    const [file] = input.files;
    const isTooLarge = file !== undefined && file.size > Number(input.dataset.maxBytes);
    input.setCustomValidity(
      isTooLarge ? `This file has ${inKib(file.size)}; at most ${inKib(input.dataset.maxBytes)} can be sent.` : '',
    );
    input.reportValidity();
    const bytes = file === undefined || isTooLarge ? new Uint8Array() : new Uint8Array(await file.arrayBuffer());
    input.form.elements.namedItem(input.dataset.into).value = btoa(
      Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''),
    );
  });
}

function inKib(bytes) {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
