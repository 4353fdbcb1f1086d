/** Which layer may see which; apps additionally see only their own scope (apps never import each other). */
export const boundaries = [
  { sourceTag: 'layer:kernel', onlyDependOnLibsWithTags: ['layer:kernel'] },
  { sourceTag: 'layer:format', onlyDependOnLibsWithTags: ['layer:kernel', 'layer:format'] },
  { sourceTag: 'layer:contract', onlyDependOnLibsWithTags: ['layer:kernel', 'layer:contract'] },
  {
    sourceTag: 'layer:platform',
    onlyDependOnLibsWithTags: ['layer:kernel', 'layer:contract', 'layer:platform', 'layer:testing'],
  },
  {
    sourceTag: 'layer:testing',
    onlyDependOnLibsWithTags: ['layer:kernel', 'layer:contract', 'layer:platform', 'layer:testing'],
  },
  {
    sourceTag: 'layer:app',
    onlyDependOnLibsWithTags: [
      'layer:kernel',
      'layer:format',
      'layer:contract',
      'layer:platform',
      'layer:testing',
    ],
  },
  { sourceTag: 'layer:composition', onlyDependOnLibsWithTags: ['*'] },
];
