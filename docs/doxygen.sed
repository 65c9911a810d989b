# What doxygen 1.9 makes of our Markdown and should not: code in headings shows as tags, links to a place in another page or to a file that is no page lead nowhere.
/^#/s/`//g
s%\]\(([^()]*\.md)#[^)]*\)%](\1)%g
s%\]\(([^():]*/)?([^()/:]+\.(cpp|json))\)%](\2)%g
