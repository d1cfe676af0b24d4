export type {
  Message,
  PlaceholderOf,
  PluralForms,
  ValuesOf,
} from '../../core/contract/sentences/placeholders.ts';
