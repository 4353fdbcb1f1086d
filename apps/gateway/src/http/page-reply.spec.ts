import { pageLinks } from './page-reply';

const page = (number: number, hasMore: boolean, next: string | null = null) => ({
  page: number,
  has_more: hasMore,
  next_cursor: next,
});

describe('the Link header of a page', () => {
  it.each([
    ['the only page', '/x', page(1, false), undefined],
    ['the first', '/x', page(1, true, 'c'), '</x?page=2>; rel="next"'],
    [
      'one in the middle, with its filter',
      '/x?status=open&page=2&per_page=5',
      page(2, true),
      '</x?status=open&page=3&per_page=5>; rel="next", </x?status=open&page=1&per_page=5>; rel="prev"',
    ],
    ['the last', '/x?page=3', page(3, false), '</x?page=2>; rel="prev"'],
    ['one by cursor', '/x?cursor=a', page(1, true, 'b+/='), '</x?cursor=b%2B%2F%3D>; rel="next"'],
    ['the last by cursor', '/x?cursor=a', page(1, false), undefined],
    [
      'a filter that needs encoding',
      '/x?q=a%26b%3E',
      page(1, true),
      '</x?q=a%26b%3E&page=2>; rel="next"',
    ],
  ])('of %s', (_, url, given, link) => {
    expect(pageLinks(url, given)).toEqual(link === undefined ? {} : { Link: link });
  });
});
