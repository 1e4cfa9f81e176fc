/** The worst descriptions: texts that the API accepts, at their maximum length, and some that only a fault could produce. */
export const hostileDescriptions = {
  markup: '</bdi></dd></dl></main><script>alert(1)</script><img src=x onerror=alert(2)><style>*{display:none}</style>',
  attributes: '" onmouseover="alert(1)" style="position:fixed;inset:0" x=\'',
  entities: '&lt;b&gt; &amp;amp; &#x3c;script&#x3e; &nbsp;&shy;',
  templates: '{{constructor.constructor("alert(1)")()}} ${alert(1)} <%= 1 %> {amount} {0} %s',
  links: 'javascript:alert(1) https://evil.example/pay?to=0x0 data:text/html,<script>alert(1)</script>',
  nothings: 'null undefined NaN [object Object] 0 false',
  'long-word': 'W'.repeat(500),
  long: 'Two cups of coffee and a slice of cake. '.repeat(13).slice(0, 500).trim(),
  lines: 'one\ntwo\n'.repeat(60).trim(),
  emoji: '👨‍👩‍👧‍👦'.repeat(45) + '🔥'.repeat(5),
  overrides: '\u202Etnuoma siht yap\u202C \u2067\u2066\u2069 \u202Dabc \u200F\u200E\u061C',
  'unclosed-overrides': '\u202E\u2067\u2067\u202D0.01 USDT \u202E',
  'zero-width': 'a\u200Bb\u200Cc\u200Dd\uFEFFe\u2060f\u00ADg',
  combining: `Z${'\u0300\u0301\u0302\u0303\u0304'.repeat(60)} text`,
  arabic: 'فنجانان من القهوة — order 4711 (٢)',
} as const;
