import type { PaymentStatus } from './types.ts';

/** Texts of the frame. The page inside speaks the reader's language. */
export type EmbedTexts = { title: string; close: string; open: string };

export type EmbedOptions = {
  /** Each status that the page shows, the first one too. For display only: ship goods when your backend has received the webhook. */
  onStatus?: (status: PaymentStatus) => void;
  /** The reader or `close()` has closed it. The last status that the page has shown, or null if it has shown none. */
  onClose?: (status: PaymentStatus | null) => void;
  texts?: Partial<EmbedTexts>;
};

const english: EmbedTexts = { title: 'Payment', close: 'Close', open: 'Open in a new tab' };

const statuses: readonly string[] = ['PENDING', 'CHECKING', 'PAID', 'CANCELLED', 'EXPIRED'] satisfies PaymentStatus[];

/**
 * Shows a checkout page over the shop's own page. The shop's origin must be one of `embed_origins` of its profile, or browsers refuse the
 * frame; the link to open the page in a tab works always.
 * @param paymentUrl `payment_url` of the payment.
 * @returns a function that closes it.
 * @throws TypeError for a text that is no absolute URL.
 */
export function openCheckout(paymentUrl: string, { onStatus, onClose, texts }: EmbedOptions = {}): () => void {
  const { origin, href } = new URL(paymentUrl);
  const words = { ...english, ...texts };
  const [dialog, frame] = [document.createElement('dialog'), document.createElement('iframe')];
  let last: PaymentStatus | null = null;
  const hear = ({ origin: from, source, data }: MessageEvent<unknown>) => {
    // Any window can send a message.
    if (from !== origin || source !== frame.contentWindow) return;
    const { status } = (data ?? {}) as { status?: unknown };
    if (typeof status !== 'string' || !statuses.includes(status)) return;
    last = status as PaymentStatus;
    onStatus?.(last);
  };

  frame.src = href;
  frame.title = words.title;
  // For the copy buttons.
  frame.allow = 'clipboard-write';
  Object.assign(frame.style, { border: '0', display: 'block', flex: '1', minHeight: '0', width: '100%' });
  dialog.setAttribute('aria-label', words.title);
  Object.assign(dialog.style, {
    ...{ border: '0', borderRadius: '1rem', boxSizing: 'border-box', padding: '0', overflow: 'hidden' },
    ...{
      flexDirection: 'column',
      width: 'min(62rem, 96vw)',
      height: 'min(54rem, 94vh)',
      maxWidth: 'none',
      maxHeight: 'none',
    },
    display: 'flex',
  });
  dialog.append(bar(dialog, href, words), frame);
  dialog.addEventListener('close', () => {
    removeEventListener('message', hear);
    dialog.remove();
    onClose?.(last);
  });
  addEventListener('message', hear);
  document.body.append(dialog);
  dialog.showModal();
  return () => dialog.close();
}

/** A way out for readers whose browser refuses the frame. */
function bar(dialog: HTMLDialogElement, url: string, { open, close }: EmbedTexts): HTMLElement {
  const [element, link, button] = [
    document.createElement('div'),
    document.createElement('a'),
    document.createElement('button'),
  ];
  Object.assign(element.style, {
    alignItems: 'center',
    display: 'flex',
    justifyContent: 'space-between',
    padding: '0.5rem 1rem',
  });
  Object.assign(link, { href: url, target: '_blank', rel: 'noopener', textContent: open });
  Object.assign(button, { type: 'button', textContent: '✕' });
  button.setAttribute('aria-label', close);
  Object.assign(button.style, {
    background: 'none',
    border: '0',
    cursor: 'pointer',
    font: 'inherit',
    minHeight: '2.75rem',
    minWidth: '2.75rem',
  });
  button.addEventListener('click', () => dialog.close());
  element.append(link, button);
  return element;
}
