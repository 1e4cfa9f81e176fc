/** Who may sign in: a console that merchants reach need not be one for operators. */
export const audiences = ['everyone', 'merchants'] as const;

export type Audience = (typeof audiences)[number];
